#include "traces/exporters/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "traces/exporters/frame_of_visit.h"
#include "traces/text/kernel_name.h"

namespace corun {
namespace {

Category category_of(OpKind kind) {
  if (kind == OpKind::kKernel) return Category::kKernel;
  return kind == OpKind::kRender ? Category::kRender : Category::kMemory;
}

std::string name_of(const QueueRecord& queue) {
  return fmt::format("GPU {} context {} stream {}", queue.device, queue.context, queue.stream);
}

std::string name_of(const Timeline& timeline, const SwapchainRecord& chain) {
  return fmt::format("{} {}", timeline.text(chain.application), chain.address);
}

// The first frame may have begun before the timeline's origin.
std::int64_t begin_of(const FrameRecord& frame) {
  if (frame.interval_ns >= 0) return frame.present_ns - frame.interval_ns;
  return frame.submit_ns == -1 ? frame.present_ns : std::min(frame.submit_ns, frame.present_ns);
}

bool has_gpu_span(const FrameRecord& frame) {
  return frame.gpu_begin_ns != -1 && frame.gpu_begin_ns <= frame.gpu_end_ns;
}

bool is_span_of(const OpRecord& visit, const FrameRecord& frame) {
  return visit.start_ns == frame.gpu_begin_ns && visit.start_ns + visit.duration_ns == frame.gpu_end_ns;
}

}  // namespace

std::uint64_t Texts::number(std::string_view text) {
  const auto known = number_of_.find(text);
  if (known != number_of_.end()) return known->second;
  texts_.emplace_back(text);
  return number_of_[texts_.back()] = texts_.size();
}

std::string Tracks::process_name(std::uint64_t process) const {
  const auto known = process_names_.find(process);
  if (known != process_names_.end()) return known->second;
  return process == 0 ? "program" : fmt::format("process {}", process);
}

TimelineTracks::TimelineTracks(const Timeline& timeline)
    : timeline_(timeline), short_names_(timeline.strings().size()) {
  flow_count_ = timeline.calls().size() + timeline.ops().size();
  if (timeline.provenance().clock == "monotonic")
    origin_ns_ = std::max<std::int64_t>(0, timeline.provenance().origin_ns);
  name_processes();
  number_frames();
  find_first_ops();
  add_queues();
  add_threads();
  add_frames();
  add_gpu_spans();
  add_draws();
  add_notes();
}

void TimelineTracks::name_processes() {
  for (const SwapchainRecord& chain : timeline_.swapchains())
    if (!chain.application.is_none())
      process_names_.try_emplace(chain.process, std::string{timeline_.text(chain.application)});
  for (const auto& [process, name] : timeline_.provenance().programs) process_names_[process] = name;
}

void TimelineTracks::number_frames() {
  std::map<std::uint64_t, std::uint64_t> last_of;  // program
  for (const FrameRecord& frame : timeline_.frames())
    frame_numbers_.push_back(++last_of[timeline_.swapchains()[frame.swapchain].process]);
}

void TimelineTracks::find_first_ops() {
  first_op_.resize(timeline_.calls().size(), OpRecord::kNoIndex);
  for (std::uint32_t i = 0; i < timeline_.ops().size(); ++i) {
    const std::uint32_t call = timeline_.ops()[i].call;
    if (call != OpRecord::kNoIndex && first_op_[call] == OpRecord::kNoIndex) first_op_[call] = i;
  }
}

void Tracks::add_slice(Track& track, std::int64_t begin_ns, std::int64_t end_ns, Event event) {
  earliest_ns_ = std::min(earliest_ns_, begin_ns);
  track.slices.push_back({begin_ns, end_ns, static_cast<std::uint32_t>(events_.size())});
  events_.push_back(std::move(event));
}

void TimelineTracks::add_queues() {
  visits_.resize(timeline_.frames().size());
  const std::vector<std::uint32_t> frame_of = frames_of_visits(timeline_);
  for (const QueueRecord& queue : timeline_.queues()) tracks_.push_back({queue.process, corun::name_of(queue)});
  for (std::uint32_t i = 0; i < timeline_.ops().size(); ++i) {
    add_op(tracks_[timeline_.ops()[i].queue], i, frame_of[i]);
    if (frame_of[i] != OpRecord::kNoIndex) visits_[frame_of[i]].push_back(i);
  }
}

void TimelineTracks::add_op(Track& track, std::uint32_t i, std::uint32_t frame) {
  const OpRecord& op = timeline_.ops()[i];
  if (op.kind == OpKind::kRender) track.name = fmt::format("graphics queue {}", timeline_.queues()[op.queue].stream);
  Event event{.name = name_of(op, frame), .category = category_of(op.kind), .details = details_of(op)};
  if (op.call != OpRecord::kNoIndex && first_op_[op.call] == i) event.flows.push_back(flow_of_call(op.call));
  if (frame != OpRecord::kNoIndex) event.flows.push_back(flow_of_visit(i));
  add_slice(track, op.start_ns, op.start_ns + op.duration_ns, std::move(event));
}

std::uint64_t TimelineTracks::name_of(const OpRecord& op, std::uint32_t frame) {
  const std::string_view name = op.name.is_none() ? to_string(op.kind) : timeline_.text(op.name);
  if (frame != OpRecord::kNoIndex) return names_.number(fmt::format("{} {}", name, frame_numbers_[frame]));
  if (op.kind != OpKind::kKernel || op.name.is_none()) return names_.number(name);
  std::uint64_t& number = short_names_[op.name.value];
  if (number == 0) number = names_.number(short_kernel_name(name));
  return number;
}

std::uint32_t TimelineTracks::details_of(const OpRecord& op) {
  const bool is_kernel = op.kind == OpKind::kKernel && !op.name.is_none();
  const DetailKey key{is_kernel ? op.name.value : OpRecord::kNoIndex, op.shape, op.bytes, op.graph_node};
  const auto [entry, is_new] = details_of_.try_emplace(key, 0);
  if (!is_new) return entry->second;
  std::vector<Detail> details;
  if (is_kernel && short_kernel_name(timeline_.text(op.name)) != timeline_.text(op.name))
    details.push_back(text("full name", timeline_.text(op.name)));
  if (op.shape != OpRecord::kNoIndex) add_shape(timeline_.shapes()[op.shape], details);
  if (op.bytes != 0) details.push_back(number("bytes", op.bytes));
  if (op.graph_node != 0) details.push_back(number("graph node", op.graph_node));
  entry->second = add_details(std::move(details));
  return entry->second;
}

void TimelineTracks::add_shape(const LaunchShape& shape, std::vector<Detail>& details) {
  if (shape.blocks() != 0)
    details.push_back(text("grid", fmt::format("{} x {} x {}", shape.grid_x, shape.grid_y, shape.grid_z)));
  if (shape.threads_per_block() != 0)
    details.push_back(text("block", fmt::format("{} x {} x {}", shape.block_x, shape.block_y, shape.block_z)));
  if (shape.registers_per_thread != 0) details.push_back(number("registers per thread", shape.registers_per_thread));
  details.push_back(number("shared memory bytes per block", shape.shared_memory_bytes));
}

std::uint32_t Tracks::add_details(std::vector<Detail> details) {
  details_.push_back(std::move(details));
  return static_cast<std::uint32_t>(details_.size() - 1);
}

Detail Tracks::text(std::string_view name, std::string_view value) {
  return {detail_names_.number(name), true, texts_.number(value)};
}

Detail Tracks::number(std::string_view name, std::uint64_t value) { return {detail_names_.number(name), false, value}; }

void TimelineTracks::add_threads() {
  const std::size_t first = tracks_.size();
  for (const ThreadRecord& thread : timeline_.threads()) {
    tracks_.push_back({thread.process, fmt::format("thread {}", thread.thread), Nesting::kAllowed, thread.thread});
  }
  for (const MarkRecord& mark : timeline_.marks()) {
    add_slice(tracks_[first + mark.thread], mark.start_ns, mark.start_ns + mark.duration_ns,
              {.name = names_.number(timeline_.text(mark.name)), .category = Category::kMark});
  }
  for (std::uint32_t i = 0; i < timeline_.calls().size(); ++i) {
    const CallRecord& call = timeline_.calls()[i];
    Event event{.name = names_.number(to_string(call.kind)), .category = Category::kCall};
    if (first_op_[i] != OpRecord::kNoIndex) event.flows.push_back(flow_of_call(i));
    add_slice(tracks_[first + call.thread], call.start_ns, call.start_ns + call.duration_ns, std::move(event));
  }
}

Event TimelineTracks::event_of_frame(std::size_t frame) {
  return {.name = names_.number(fmt::format("frame {}", frame_numbers_[frame])), .category = Category::kFrame};
}

void TimelineTracks::add_frames() {
  const std::size_t first = tracks_.size();
  for (const SwapchainRecord& chain : timeline_.swapchains())
    tracks_.push_back({chain.process, "frames of " + corun::name_of(timeline_, chain)});
  for (std::size_t i = 0; i < timeline_.frames().size(); ++i) {
    const FrameRecord& frame = timeline_.frames()[i];
    Event event = event_of_frame(i);
    for (std::uint32_t visit : visits_[i]) event.flows.push_back(flow_of_visit(visit));
    add_slice(tracks_[first + frame.swapchain], begin_of(frame), frame.present_ns, std::move(event));
  }
}

// Spans that are all the one visit of their frame would only repeat the queue's track.
void TimelineTracks::add_gpu_spans() {
  std::vector<bool> tells_more(timeline_.swapchains().size());
  for (std::size_t i = 0; i < timeline_.frames().size(); ++i) {
    const FrameRecord& frame = timeline_.frames()[i];
    const bool is_a_visit = visits_[i].size() == 1 && is_span_of(timeline_.ops()[visits_[i][0]], frame);
    if (has_gpu_span(frame) && !is_a_visit) tells_more[frame.swapchain] = true;
  }
  const std::size_t first = tracks_.size();
  for (const SwapchainRecord& chain : timeline_.swapchains())
    tracks_.push_back({chain.process, "GPU spans of the frames of " + corun::name_of(timeline_, chain)});
  for (std::size_t i = 0; i < timeline_.frames().size(); ++i) {
    const FrameRecord& frame = timeline_.frames()[i];
    if (!has_gpu_span(frame) || !tells_more[frame.swapchain]) continue;
    add_slice(tracks_[first + frame.swapchain], frame.gpu_begin_ns, frame.gpu_end_ns, event_of_frame(i));
  }
}

// Of the few frames whose composition was sampled.
void TimelineTracks::add_draws() {
  const std::size_t first = tracks_.size();
  for (const SwapchainRecord& chain : timeline_.swapchains())
    tracks_.push_back({chain.process, "draws of sampled frames of " + corun::name_of(timeline_, chain)});
  for (const DrawRecord& draw : timeline_.draws()) {
    add_slice(tracks_[first + draw.swapchain], draw.start_ns, draw.start_ns + draw.duration_ns,
              {.name = names_.number(draw.calls == 1 ? "draw" : fmt::format("{} draws", draw.calls)),
               .category = Category::kRender});
  }
}

void TimelineTracks::add_notes() {
  std::map<std::optional<std::uint64_t>, std::vector<Detail>> notes_on;  // process, or the capture
  for (const std::string& note : timeline_.provenance().notes) {
    std::vector<Detail>& notes = notes_on[process_in(note)];
    notes.push_back(text(fmt::format("note {}", notes.size() + 1), note));
  }
  const std::int64_t start_ns = earliest_ns();
  for (auto& [process, notes] : notes_on) {
    tracks_.push_back({process, process ? "notes" : "notes on the capture"});
    add_slice(tracks_.back(), start_ns, start_ns,
              {names_.number("notes"), Category::kNote, add_details(std::move(notes))});
  }
}

// Notes on one program say "(process 42, ...)".
std::optional<std::uint64_t> TimelineTracks::process_in(std::string_view note) const {
  constexpr std::string_view kWord = "(process ";
  const std::size_t at = note.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t process = 0;
  std::from_chars(note.data() + at + kWord.size(), note.data() + note.size(), process);
  const bool is_known = std::ranges::any_of(tracks_, [&](const Track& track) { return track.process == process; });
  return is_known ? std::optional{process} : std::nullopt;
}

}  // namespace corun
