#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/live/client/live_client.h"
#include "tests/support/fake_backend.h"
#include "tests/support/replay.h"
#include "tracer/gate/channel/word.h"

namespace corun::testing {

/// Opens, closes and admits as a test says, and keeps what it hears.
class Obedient : public Policy {
 public:
  struct Frame {
    FrameEvent event;
    FrameView frame;
  };

  void on_submitted(const GpuView&, ClientId, const OpView& op) override {
    submitted.push_back(op);
    names.emplace_back(op.name);
  }
  void on_launched(const GpuView&, ClientId, const OpView& op) override { launched.push_back(op.number); }
  void on_completed(const GpuView&, ClientId, const OpView& op, Duration device_time) override {
    completed.emplace_back(op.number, device_time);
  }
  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    frames.push_back({event, view.client(client).frame});
  }
  void decide(const GpuView& view, Actions& actions) override {
    const ClientId client = view.clients[0].id;
    if (!view.clients[0].is_present) return;
    if (is_open) actions.open(client);
    if (!is_open) actions.close(client);
    if (const std::uint32_t count = std::exchange(to_admit, 0); count > 0) actions.admit(client, count);
  }
  std::uint32_t admits_ahead(const GpuView&, const ClientView&) const override { return ahead; }

  bool is_open = false;
  std::uint32_t to_admit = 0, ahead = 0;
  std::vector<OpView> submitted;
  std::vector<std::string> names;
  std::vector<std::uint64_t> launched;
  std::vector<std::pair<std::uint64_t, Duration>> completed;
  std::vector<Frame> frames;
};

/// The scheduler's half of one client, and its program as a test plays it in the memory of the gate.
class OneClient : public ::testing::Test, private Backend {
 protected:
  OneClient() { lane_->gate = gate::closed_word(0, 0); }
  ~OneClient() override { munmap(lane_, sizeof(gate::Lane)); }

  /// With `spec_` as it is by then; its workload is empty unless set.
  void join() {
    if (spec_.workload == nullptr) spec_.workload = std::make_shared<const Workload>();
    arbiter_.emplace(policy_, "obedient", fake_device(), std::vector{fake_client("a")}, static_cast<Backend&>(*this),
                     facts_);
    client_.emplace(ClientId{0}, spec_, *lane_, *arbiter_, use_, clock_, facts_);
    arbiter_->join(ClientId{0});
    decide();
  }
  /// As the scheduler does after what it has heard.
  void decide() {
    arbiter_->decide();
    client_->follow();
  }
  void set_open(bool is_open) {
    policy_.is_open = is_open;
    decide();
  }

  std::int64_t now_ns() const { return executor::WallClock::monotonic_ns(); }
  /// A launch of a process that has this slot.
  std::uint64_t launch(gate::LaunchKind kind = gate::LaunchKind::kKernel, std::uint32_t slot = 0) {
    const std::uint64_t number = take_number();
    gate::Launch& entry = entry_of(number);
    entry.submitted_ns = now_ns();
    entry.kind = kind;
    entry.name = name_;
    entry.stream = 3;
    entry.blocks = 12;
    entry.bytes = 700;
    entry.slot = gate::mark_of_slot(slot, lane_->slots[slot].turn);
    entry.ready = number + 1;
    return number;
  }
  std::uint64_t take_number() { return gate::launches_of(lane_->gate.fetch_add(1)); }
  gate::Launch& entry_of(std::uint64_t number) { return lane_->launches[number % gate::kDepth]; }
  /// Launches that ended as one group just now, each after so long.
  void end(const std::vector<std::uint64_t>& numbers, Duration each, std::uint32_t slot = 0) {
    lane_->slots_used = std::max(lane_->slots_used.load(), slot + 1);
    gate::Slot& its = lane_->slots[slot];
    for (const std::uint64_t number : numbers) {
      gate::Launch& entry = entry_of(number);
      entry.end_ns = now_ns();
      entry.device_ns = each.count();
      entry.group = static_cast<std::uint32_t>(numbers.size());
      its.done[its.done_count % gate::kDepth] = number;
      its.done_count.fetch_add(1);
    }
  }
  void name(const std::string& name) {
    name_ = 1;
    name.copy(lane_->name_text, name.size());
    lane_->name_at[1] = 1;
  }
  void tell(gate::FrameMoment moment, std::uint64_t number, std::int64_t at_ns, std::int64_t gpu_end_ns = 0,
            std::int64_t gpu_busy_ns = 0) {
    const std::uint64_t place = lane_->frame_count;
    gate::FrameRecord& record = lane_->frames[place % gate::kFrameDepth];
    record.number = number;
    record.moment = moment;
    record.at_ns = at_ns;
    record.gpu_end_ns = gpu_end_ns;
    record.gpu_busy_ns = gpu_busy_ns;
    record.ready = place + 1;
    lane_->frame_count = place + 1;
  }

  Obedient policy_;
  Facts facts_;
  ClientSpec spec_;
  executor::WallClock clock_;
  live::DeviceUse use_{2, true};  // with another, of which a test tells
  gate::Lane* lane_ = static_cast<gate::Lane*>(
      mmap(nullptr, sizeof(gate::Lane), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::optional<Arbiter> arbiter_;
  std::optional<live::LiveClient> client_;

 private:
  Time now() const override { return clock_.now(); }
  void launch(ClientId, std::uint64_t number) override { client_->launch(number); }
  void set_quality(ClientId, std::uint32_t) override {}
  void shadow(ClientId, std::uint32_t) override {}
  void snapshot(ClientId) override {}
  void kill(ClientId) override {}
  void refuse(ClientId) override {}
  void prefetch(ClientId) override {}
  void control(const Action&) override {}
  void wake_at(Time) override {}
  void request_decision() override {}
  std::uint64_t resident_bytes(ClientId) const override { return 0; }
  std::uint64_t paged_bytes(ClientId) const override { return 0; }
  Duration device_time(ClientId client) const override { return use_.of(client); }
  Duration device_busy() const override { return use_.busy(); }

  std::uint32_t name_ = 0;
};

}  // namespace corun::testing
