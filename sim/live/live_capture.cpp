#include "sim/live/live_capture.h"

#include <fmt/format.h>

namespace corun::live {

namespace {

std::uint64_t process_of(ClientId client) { return client.value + 1; }
std::int64_t ns_of(Time time) { return to_ns(time - kRunStart); }

}  // namespace

LiveCapture::LiveCapture(Recorder& inner, const std::vector<ClientSpec>& clients) : inner_(inner), clients_(clients) {
  Fidelity& fidelity = builder_.fidelity();
  fidelity.has_calls = true;
  fidelity.co_run = true;
  Provenance& provenance = builder_.provenance();
  provenance.source_format = "live";
  provenance.clock = "capture_start";
  for (std::uint32_t i = 0; i < clients.size(); ++i) provenance.programs[process_of(ClientId{i})] = clients[i].name;
}

void LiveCapture::on_op(const OpFact& fact) {
  inner_.on_op(fact);
  if (fact.is_lost) return;
  const std::uint64_t process = process_of(fact.client);
  CallRecord call;
  call.start_ns = ns_of(fact.submitted);
  call.duration_ns = to_ns(fact.launched - fact.submitted);
  call.thread = builder_.thread({.process = process, .thread = process});
  OpRecord op;
  op.start_ns = ns_of(fact.begin);
  op.duration_ns = to_ns(fact.end - fact.begin);
  op.kind = fact.kind;
  op.name = builder_.intern(fact.name.empty() ? to_string(fact.kind) : fact.name);
  op.queue = call.queue = builder_.queue({.stream = fact.stream.value, .process = process});
  op.call = builder_.add(call);
  builder_.add(op);
}

void LiveCapture::on_frame(const FrameFact& fact) {
  inner_.on_frame(fact);
  builder_.fidelity().has_frames = true;
  FrameRecord frame;
  frame.present_ns = ns_of(fact.present);
  frame.submit_ns = ns_of(fact.submit);
  frame.gpu_begin_ns = ns_of(fact.gpu_begin);
  frame.gpu_end_ns = ns_of(fact.gpu_end);
  frame.gpu_busy_ns = to_ns(fact.gpu_busy);
  const auto last = last_present_.find(fact.client.value);
  if (last != last_present_.end()) frame.interval_ns = to_ns(fact.present - last->second);
  last_present_[fact.client.value] = fact.present;
  frame.swapchain = builder_.swapchain(
      {.application = builder_.intern(clients_[fact.client.value].name), .process = process_of(fact.client)});
  builder_.add(frame);
}

Timeline LiveCapture::seal(const std::string& policy) && {
  builder_.provenance().notes.push_back(fmt::format(
      "{} programs at once under policy '{}': device times are shares of groups of launches", clients_.size(), policy));
  return std::move(builder_).seal();
}

}  // namespace corun::live
