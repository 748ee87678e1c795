#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/live/client/device_use.h"
#include "sim/live/client/lane_gate.h"
#include "sim/live/client/lane_reader.h"
#include "sim/live/client/live_jobs.h"
#include "sim/live/client/live_ops.h"
#include "sim/live/client/profile.h"
#include "sim/live/client/server_file.h"
#include "sim/workload/client_spec.h"
#include "tracer/gate/channel/channel.h"

namespace corun::live {

/// What a live client did, for the run's report.
struct LiveCounts {
  std::uint64_t launches = 0;
  std::uint64_t graphs = 0;          ///< among these
  std::uint64_t slipped = 0;         ///< launches that passed before the arbiter launched them
  std::uint64_t passed = 0;          ///< launches that have passed the gate
  Time first_work = kNever;          ///< its first launch was made, or its first frame began
  std::vector<Duration> heard_late;  ///< from a launch through an open gate until it was read
};

/// One client of a live run: submits the launches in its lane to the arbiter, completes them by the ends in it, and
/// sets the lane's gate to the arbiter's. One thread.
///
///     lane -> LaneReader -> LiveOps, LiveJobs -> arbiter -> launch(), follow() -> LaneGate -> lane
///
/// All of its processes have launches in one order and one gate; each writes the ends of its own. When one dies, what
/// it had in flight counts as lost and what it had waiting as never launched; the arbiter then gets what waits of the
/// others again.
///
/// It numbers submissions for the arbiter, rendering among them. Numbers of launches that were never made are used
/// again.
class LiveClient {
 public:
  /// All references outlive this.
  LiveClient(ClientId id, const ClientSpec& spec, gate::Lane& lane, Arbiter& arbiter, DeviceUse& use,
             const executor::WallClock& clock, Recorder& recorder);

  /// Reports to the arbiter everything that is new in the lane. True if there was something.
  bool poll();
  /// Tells what is in progress on the device, for the costs of frames that end before it does. A frame whose end is to
  /// be polled has work until then.
  void tell_use(Time now);
  /// The arbiter lets submission `number` pass.
  void launch(std::uint64_t number);
  /// To be called after every decision. Reports to the arbiter what passed but still waits there, and makes the gate in
  /// the lane what the arbiter's is, launches that the policy admits ahead included.
  void follow();
  /// The program renders its next frames at this level of its menu.
  void set_quality(std::uint32_t level) { jobs_.set_quality(level); }
  /// Wakes the processes that launch() and follow() have let pass.
  void wake_admitted() { gate_.wake_admitted(); }
  /// Whether launches may pass its closed gate that the policy has promised to admit.
  bool has_promise() const { return !gate_.is_open() && gate_.limit() > ops_.launched(); }
  /// Reads what processes that have died still wrote and gives up their work. True if there were any.
  bool reap_dead_processes();
  /// The client has left: reads what is new and gives up all work.
  void leave();
  /// The policy has refused the client: gives up all work. New launches are not submitted.
  void evict();

  /// Its processes are being killed: gives up all work, and the job that it was at. Those that come get the same gate.
  void lose_work();

  /// Its program is a server, which says in `file` how it stands. The file outlives this.
  void set_server(const ServerFile& file) { server_ = &file; }
  /// Reports to the arbiter what a server says; nothing of another program. True if that has changed.
  bool tell_server();

  /// What its programs may allocate, from now on: to be called before they start.
  void set_memory(const MemoryTerms& terms);
  const MemoryTerms& memory() const { return memory_; }

  ClientId id() const { return id_; }
  const std::string& name() const { return spec_.name; }
  /// What no gate writes, and a program of this client has written; "" = nothing.
  const std::string& fault() const { return reader_.fault(); }
  /// Nothing that is yet to be read began before this, unless it is read very late.
  Time oldest_unfinished() const;
  /// Whether poll() has something of a frame to report.
  bool has_frames_to_tell() const { return reader_.has_frames(); }
  std::uint64_t jobs_finished() const { return jobs_.finished(); }
  /// Why that is no measure of its rate; "" where it is one.
  std::string why_rate_is_unknown() const { return jobs_.why_rate_is_unknown(); }
  const LiveCounts& counts() const { return counts_; }
  std::uint64_t waiting() const;    ///< launches at the gate
  std::uint64_t in_flight() const;  ///< launches that have passed and are not complete
  std::uint64_t allocated() const;  ///< bytes of device memory, as its processes say
  /// When a launch at a closed gate was read last; kNever before the first.
  Time last_question() const { return last_question_; }

 private:
  bool poll_frames();
  bool poll_launches();
  bool poll_ends();
  void submit(std::uint64_t in_lane, const LaneReader::Said& launch);
  bool can_complete(const LaneReader::EndGroup& group);
  void complete_group(const LaneReader::EndGroup& group);
  void complete(LiveOp& op, Time begin, Time end, Duration device_time, bool is_lost);
  void report_slipped();
  OpView view_of(const LiveOp& launch);
  void lose_process(std::uint32_t slot);
  void lose(LiveOp& op);
  void resubmit_waiting();
  void drop_waiting();

  const ClientId id_;
  const ClientSpec& spec_;
  Arbiter& arbiter_;
  DeviceUse& use_;
  const executor::WallClock& clock_;
  Recorder& recorder_;
  Profile profile_;
  gate::Lane& lane_;
  LaneReader reader_;
  LaneGate gate_;
  LiveOps ops_;
  LiveJobs jobs_;
  MemoryTerms memory_;
  const ServerFile* server_ = nullptr;  // nullptr: it is none
  ServerView said_{};                   // by it, last
  std::uint64_t next_number_ = 0;       // for the arbiter
  Time last_question_ = kNever;
  Time ended_ = kRunStart;  // of its launches, the last
  LiveCounts counts_;
};

}  // namespace corun::live
