#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/workload.h"

namespace corun::testing {

/// Writes captures of programs call by call, as a tracer would: one host, 10 us a call.
class ProgramScript {
 public:
  ProgramScript& launch(std::string_view name, std::uint32_t stream = 0, std::int64_t duration_us = 5) {
    const std::uint32_t call = builder_.add(call_at(CallKind::kLaunch, stream));
    add_op(name, stream, call, duration_us);
    now_us_ += 10;
    return *this;
  }
  ProgramScript& launch_wide(std::string_view name, std::uint32_t blocks) {
    shape_ = builder_.shape({.grid_x = blocks, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1});
    launch(name);
    shape_ = OpRecord::kNoIndex;
    return *this;
  }
  ProgramScript& copy_to_host() {
    kind_ = OpKind::kCopyDeviceToHost;
    launch("copy");
    kind_ = OpKind::kKernel;
    return *this;
  }
  ProgramScript& launch_all(const std::vector<std::string>& names, std::uint32_t stream = 0) {
    for (const std::string& name : names) launch(name, stream);
    return *this;
  }
  ProgramScript& graph(const std::vector<std::string>& kernels) {
    const std::uint32_t call = builder_.add(call_at(CallKind::kGraphLaunch, 0));
    for (const std::string& kernel : kernels) add_op(kernel, 0, call, 5, true);
    now_us_ += 10;
    return *this;
  }
  ProgramScript& wait(std::uint32_t stream = 0) {
    builder_.add(call_at(CallKind::kSynchronizeStream, stream));
    now_us_ += 20;
    return *this;
  }
  ProgramScript& wait_all() {
    builder_.add(call_at(CallKind::kSynchronizeDevice, 0));
    now_us_ += 20;
    return *this;
  }
  ProgramScript& pause(std::int64_t us) {
    now_us_ += us;
    return *this;
  }
  ProgramScript& begin_range(const std::string& name) {
    open_.emplace_back(name, now_us_);
    return *this;
  }
  ProgramScript& end_range() {
    const auto& [name, begin_us] = open_.back();
    builder_.add(MarkRecord{begin_us * 1'000, (now_us_ - begin_us) * 1'000, builder_.intern(name), thread_});
    open_.pop_back();
    return *this;
  }
  Timeline end() {
    builder_.fidelity().has_calls = true;
    return std::move(builder_).seal();
  }

 private:
  CallRecord call_at(CallKind kind, std::uint32_t stream) {
    return {.start_ns = now_us_ * 1'000, .duration_ns = 1'000, .kind = kind, .thread = thread_, .queue = queue(stream)};
  }
  void add_op(std::string_view name, std::uint32_t stream, std::uint32_t call, std::int64_t duration_us,
              bool is_of_graph = false) {
    end_us_ = std::max(end_us_ + 1, now_us_ + 4);
    builder_.add(OpRecord{.start_ns = end_us_ * 1'000,
                          .duration_ns = duration_us * 1'000,
                          .kind = kind_,
                          .name = builder_.intern(name),
                          .queue = queue(stream),
                          .call = call,
                          .shape = shape_,
                          .graph_node = is_of_graph ? 1U : 0U});
    end_us_ += duration_us;
  }
  std::uint32_t queue(std::uint32_t stream) { return builder_.queue(QueueRecord{.stream = stream}); }

  TimelineBuilder builder_;
  const std::uint32_t thread_ = builder_.thread(ThreadRecord{});
  std::int64_t now_us_ = 0, end_us_ = 0;
  OpKind kind_ = OpKind::kKernel;
  std::uint32_t shape_ = OpRecord::kNoIndex;
  std::vector<std::pair<std::string, std::int64_t>> open_;
};

/// The workload of a script's capture.
inline Workload workload_of(ProgramScript& script, const StepChoice& step = {}) {
  WorkloadOptions options;
  options.step = step;
  return workload_from_timeline(script.end(), options);
}

/// Number of its jobs; 0 where it has no steps.
inline std::size_t steps_in(const Workload& workload) {
  return workload.finding.certainty == StepCertainty::kNone ? 0 : workload.jobs.size();
}

}  // namespace corun::testing
