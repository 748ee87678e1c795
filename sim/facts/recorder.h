#pragma once

#include <cstdint>
#include <string_view>

#include "sim/policy/action.h"
#include "sim/serving/step_size.h"
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
  std::string_view name;  ///< valid during the call
  Time submitted;         ///< its host asked
  Time launched;          ///< it passed the gate
  Time begin;             ///< it first ran on the device
  Time end;
  Duration device_time{};
  bool is_lost = false;  ///< its context was killed before it ended
};

/// A job (frame, iteration, request) that finished.
struct JobFact {
  ClientId client;
  std::uint64_t number = 0;
  Time arrival;  ///< when it was due: its release for open replay and requests, else its start
  Time begin;    ///< its host began it
  Time end;      ///< its last operation finished
};

/// A frame that was presented.
struct FrameFact {
  ClientId client;
  std::uint64_t number = 0;
  Time start;           ///< its host began it
  Time submit;          ///< first submission of its work
  Time gpu_begin;       ///< first GPU work began
  Time gpu_end;         ///< last GPU work ended
  Time present;         ///< when it was shown: gpu_end, or the vsync after it
  Duration gpu_busy{};  ///< device time of its work
  std::uint32_t quality_level = 0;
  double quality = 1.0;
  bool missed = false;  ///< shown later than one period after its start; false where it is not paced
};

/// A request that a server answered. It is a job, too (JobFact).
struct RequestFact {
  ClientId client;
  std::uint64_t number = 0;  ///< of the server's requests, in the order in which they came
  Time arrival;
  Time first_token;                      ///< the step that gave it ended
  Time end;                              ///< the same of the last token
  std::uint32_t prompt = 0, output = 0;  ///< tokens
};

/// A step of a server that ended, and what the server held while it went on.
struct ServerStepFact {
  ClientId client;
  Time begin, end;
  StepSize size;
  std::uint32_t sequences = 0;  ///< that are read or decoded
  std::uint32_t waiting = 0;    ///< requests that are not admitted yet
  std::uint64_t kv_tokens = 0;  ///< reserved
  std::uint64_t rejected = 0;   ///< requests turned away since the run began
};

/// A decision that was applied.
struct DecisionFact {
  Time time;
  Action action;
};

/// A stretch of time in which a client's operations waited at its gate for one reason.
struct HoldFact {
  ClientId client;
  Time begin, end;
  Hold hold;  ///< as first stated
};

/// A client was turned away with an error.
struct RefusalFact {
  ClientId client;
  Time time;
  Hold reason;  ///< stated by the decision that refused it; its rule is empty where none was
};

/// A client's context was ended by a kill, which threw away what the client did since the snapshot that it goes on from
/// (or since the kill before, or since it joined).
struct KillFact {
  ClientId client;
  Time time;
  Duration lost{};  ///< device time
  Time restored;    ///< when its operations could pass again
  Time since{};     ///< what was done from here on is lost
};

/// Receives facts while a run goes on. Models emit facts and never compute metrics. The default hears nothing.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void on_op(const OpFact&) {}
  virtual void on_job(const JobFact&) {}
  virtual void on_frame(const FrameFact&) {}
  virtual void on_request(const RequestFact&) {}
  virtual void on_server_step(const ServerStepFact&) {}
  virtual void on_decision(const DecisionFact&) {}
  virtual void on_hold(const HoldFact&) {}
  virtual void on_refusal(const RefusalFact&) {}
  virtual void on_kill(const KillFact&) {}
};

}  // namespace corun
