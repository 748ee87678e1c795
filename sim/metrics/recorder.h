#pragma once

#include <cstdint>
#include <string_view>

#include "sim/policy/action.h"
#include "traces/base/ids.h"
#include "traces/base/time.h"
#include "traces/timeline.h"

namespace corun {

/// An operation that finished.
struct OpFact {
  ClientId client;
  std::uint64_t number = 0;  ///< of the client's submissions
  std::uint64_t job = 0;     ///< of the client's jobs
  StreamId stream;
  OpKind kind = OpKind::kKernel;
  std::string_view name;     ///< valid during the call
  Time submitted;            ///< its host asked
  Time launched;             ///< it passed the gate
  Time begin;                ///< it first ran on the device
  Time end;
  Duration device_time{};
};

/// A job (frame, iteration, request) that finished.
struct JobFact {
  ClientId client;
  std::uint64_t number = 0;
  Time arrival;  ///< when it was due: its release for open replay and requests, else its begin
  Time begin;    ///< its host began it
  Time end;      ///< its last operation finished
};

/// A frame that was presented.
struct FrameFact {
  ClientId client;
  std::uint64_t number = 0;
  Time start;               ///< its host began it
  Time submit;              ///< first submission of its work
  Time gpu_begin;           ///< first GPU work began
  Time gpu_end;             ///< last GPU work ended
  Time present;             ///< when it was shown: gpu_end, or the vsync after it
  Duration gpu_busy{};      ///< device time of its work
  std::uint32_t quality_level = 0;
  double quality = 1.0;
  bool missed = false;      ///< shown later than one period after its start; false where it is not paced
};

/// A decision that was applied.
struct DecisionFact {
  Time time;
  Action action;
};

/// Receives facts while a run goes on. Models emit facts and never compute metrics. The default hears nothing.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void on_op(const OpFact&) {}
  virtual void on_job(const JobFact&) {}
  virtual void on_frame(const FrameFact&) {}
  virtual void on_decision(const DecisionFact&) {}
};

}  // namespace corun
