#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"
#include "traces/timeline.h"

namespace corun {

/// One thing the host of a capture did, in host order.
struct HostEvent {
  std::int64_t start_ns = 0;    ///< when it called
  std::int64_t release_ns = 0;  ///< when it could go on: start for a submission; for a wait, when what it awaited ended
  StepKind kind = StepKind::kSubmit;
  std::uint32_t target = 0;     ///< kSubmit, kWaitOp: index of the timeline's operation; kWaitStream: queue
};

/// The host's side of a capture as one sequence of submissions and waits. All threads of the capture are merged in
/// call order: a wait of one thread then holds back the others, too, which is what programs with one launching thread
/// at a time do (PyTorch's forward and backward threads take turns).
///
/// An operation without a recorded call is submitted with its stream predecessor if it began within 20 us of that
/// one's end (it was queued), else at its own recorded begin.
std::vector<HostEvent> host_sequence(const Timeline& timeline);

/// For each operation of the timeline, those of other streams that its stream was told to wait for.
std::vector<std::vector<std::uint32_t>> cross_stream_waits(const Timeline& timeline);

}  // namespace corun
