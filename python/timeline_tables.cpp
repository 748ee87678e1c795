#include <optional>

#include "python/tables.h"

namespace corun {

namespace {

constexpr std::uint32_t kNone = OpRecord::kNoIndex;

/// Builds a table column by column: each is one pass over the rows.
template <class Row>
class TableOf {
 public:
  explicit TableOf(const std::vector<Row>& rows) : rows_(rows) {}

  /// `value` gives an integer or nullopt.
  template <class Value>
  TableOf& integers(const char* name, const Value& value) {
    Column column(name, std::vector<std::int64_t>{});
    for (const Row& row : rows_) {
      const std::optional<std::int64_t> found = value(row);
      if (found) column.add(*found);
      if (!found) column.add_missing();
    }
    table_->columns.push_back(std::move(column));
    return *this;
  }

  template <class Value>
  TableOf& text(const char* name, const Value& value) {
    Column column(name, Words{});
    for (const Row& row : rows_) column.add(std::string_view(value(row)));
    table_->columns.push_back(std::move(column));
    return *this;
  }

  std::shared_ptr<const Table> table() { return table_; }

 private:
  const std::vector<Row>& rows_;
  std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

std::optional<std::int64_t> known(std::int64_t value) { return value < 0 ? std::nullopt : std::optional(value); }
std::optional<std::int64_t> index(std::uint32_t value) {
  return value == kNone ? std::nullopt : std::optional<std::int64_t>(value);
}
std::optional<std::int64_t> not_zero(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(value));
}

}  // namespace

std::shared_ptr<const Table> operations_table(const Timeline& timeline) {
  const auto queue = [&](const OpRecord& op) -> const QueueRecord& { return timeline.queues()[op.queue]; };
  const auto shape = [&](const OpRecord& op) {
    return op.shape == kNone ? LaunchShape{} : timeline.shapes()[op.shape];
  };
  return TableOf(timeline.ops())
      .integers("start_ns", [](const OpRecord& op) { return op.start_ns; })
      .integers("duration_ns", [](const OpRecord& op) { return op.duration_ns; })
      .text("kind", [](const OpRecord& op) { return to_string(op.kind); })
      .text("name", [&](const OpRecord& op) { return timeline.text(op.name); })
      .integers("device", [&](const OpRecord& op) { return queue(op).device; })
      .integers("process", [&](const OpRecord& op) { return not_zero(queue(op).process); })
      .integers("context", [&](const OpRecord& op) { return static_cast<std::int64_t>(queue(op).context); })
      .integers("stream", [&](const OpRecord& op) { return static_cast<std::int64_t>(queue(op).stream); })
      .integers("call", [](const OpRecord& op) { return index(op.call); })
      .integers("blocks", [&](const OpRecord& op) { return not_zero(shape(op).blocks()); })
      .integers("threads_per_block", [&](const OpRecord& op) { return not_zero(shape(op).threads_per_block()); })
      .integers("registers_per_thread", [&](const OpRecord& op) { return not_zero(shape(op).registers_per_thread); })
      .integers("shared_memory_bytes", [&](const OpRecord& op) { return not_zero(shape(op).shared_memory_bytes); })
      .integers("bytes", [](const OpRecord& op) { return not_zero(op.bytes); })
      .integers("graph_node", [](const OpRecord& op) { return not_zero(op.graph_node); })
      .table();
}

std::shared_ptr<const Table> calls_table(const Timeline& timeline) {
  const auto thread = [&](const CallRecord& call) -> const ThreadRecord& { return timeline.threads()[call.thread]; };
  const auto stream = [&](const CallRecord& call) {
    return call.queue == kNone ? std::nullopt
                               : std::optional(static_cast<std::int64_t>(timeline.queues()[call.queue].stream));
  };
  return TableOf(timeline.calls())
      .integers("start_ns", [](const CallRecord& call) { return call.start_ns; })
      .integers("duration_ns", [](const CallRecord& call) { return call.duration_ns; })
      .text("kind", [](const CallRecord& call) { return to_string(call.kind); })
      .integers("process", [&](const CallRecord& call) { return not_zero(thread(call).process); })
      .integers("thread", [&](const CallRecord& call) { return static_cast<std::int64_t>(thread(call).thread); })
      .integers("stream", stream)
      .integers("awaited", [](const CallRecord& call) { return index(call.awaited); })
      .table();
}

std::shared_ptr<const Table> frames_table(const Timeline& timeline) {
  const auto application = [&](const FrameRecord& frame) {
    const bool is_known = frame.swapchain < timeline.swapchains().size();
    return is_known ? timeline.text(timeline.swapchains()[frame.swapchain].application) : std::string_view{};
  };
  return TableOf(timeline.frames())
      .integers("present_ns", [](const FrameRecord& frame) { return frame.present_ns; })
      .integers("interval_ns", [](const FrameRecord& frame) { return known(frame.interval_ns); })
      .integers("cpu_busy_ns", [](const FrameRecord& frame) { return known(frame.cpu_busy_ns); })
      .integers("in_present_ns", [](const FrameRecord& frame) { return known(frame.in_present_ns); })
      .integers("submit_ns", [](const FrameRecord& frame) { return known(frame.submit_ns); })
      .integers("gpu_begin_ns", [](const FrameRecord& frame) { return known(frame.gpu_begin_ns); })
      .integers("gpu_end_ns", [](const FrameRecord& frame) { return known(frame.gpu_end_ns); })
      .integers("gpu_busy_ns", [](const FrameRecord& frame) { return known(frame.gpu_busy_ns); })
      .integers("visits", [](const FrameRecord& frame) { return not_zero(frame.visits); })
      .text("application", application)
      .integers("dropped", [](const FrameRecord& frame) { return frame.dropped ? 1 : 0; })
      .table();
}

std::shared_ptr<const Table> draws_table(const Timeline& timeline) {
  return TableOf(timeline.draws())
      .integers("start_ns", [](const DrawRecord& draw) { return draw.start_ns; })
      .integers("duration_ns", [](const DrawRecord& draw) { return draw.duration_ns; })
      .integers("calls", [](const DrawRecord& draw) { return static_cast<std::int64_t>(draw.calls); })
      .integers("pass", [](const DrawRecord& draw) { return static_cast<std::int64_t>(draw.pass); })
      .text("application",
            [&](const DrawRecord& draw) { return timeline.text(timeline.swapchains()[draw.swapchain].application); })
      .table();
}

std::shared_ptr<const Table> marks_table(const Timeline& timeline) {
  const auto thread = [&](const MarkRecord& mark) -> const ThreadRecord& { return timeline.threads()[mark.thread]; };
  return TableOf(timeline.marks())
      .integers("start_ns", [](const MarkRecord& mark) { return mark.start_ns; })
      .integers("duration_ns", [](const MarkRecord& mark) { return mark.duration_ns; })
      .text("name", [&](const MarkRecord& mark) { return timeline.text(mark.name); })
      .integers("process", [&](const MarkRecord& mark) { return not_zero(thread(mark).process); })
      .integers("thread", [&](const MarkRecord& mark) { return static_cast<std::int64_t>(thread(mark).thread); })
      .table();
}

}  // namespace corun
