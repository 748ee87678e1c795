#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// An operation that a test lets a client submit.
struct FakeOp {
  std::string name = "kernel";
  Duration duration{};                    ///< what the fake device takes for it
  Duration predicted = kUnknownDuration;  ///< by name
  Duration predicted_by_shape = kUnknownDuration;
  std::uint64_t blocks = 1;
  bool is_render = false;    ///< a frame: reports begin and end by itself
  bool begins_frame = true;  ///< of render work: the first of its frame
  bool ends_frame = true;    ///< of render work: the last of its frame
  bool is_copy = false;
  std::uint64_t bytes = 0;      ///< of copies
  bool is_to_device = false;    ///< of copies
  bool is_from_device = false;  ///< of copies
  double sm_demand = 1.0;
  std::uint32_t position = 0;                    ///< within its job
  Duration exact = kUnknownDuration;             ///< told to an oracle
  std::optional<std::uint32_t> quality_level{};  ///< of a frame; default: what its client has when it ends
  bool is_in_flight = false;                     ///< set by the backend
  bool is_lost = false;                          ///< set by the backend: its context was killed
};

/// A client without pacing, menu or working set.
inline ClientView fake_client(std::string name, Role role = Role::kBestEffort) {
  ClientView client;
  client.name = std::move(name);
  client.role = role;
  return client;
}

/// A V100 by its SMs; nothing else of it is known.
inline DeviceView fake_device() {
  DeviceView device;
  device.sm_count = 80;
  device.max_threads_per_sm = 2048;
  device.max_blocks_per_sm = 32;
  return device;
}

/// A launch that passed the gate.
struct FakeLaunch {
  Time time;
  ClientId client;
  std::uint64_t number;
  std::string name;

  friend bool operator==(const FakeLaunch&, const FakeLaunch&) = default;
};

/// A world in virtual time around one policy: hosts that submit scripted operations, and a device on which each client
/// runs its own operations one after another, at full speed whatever the others do.
///
/// A host is inside its launch call while an operation waits at the gate, so at most one waits unless set otherwise;
/// `depth` bounds how many of its operations may be in flight. After the last event of each instant the policy decides
/// until nothing more is to be heard.
class FakeBackend : public Backend, private Recorder {
 public:
  FakeBackend(const PolicyDescriptor& descriptor, const Parameters& parameters, std::vector<ClientView> clients,
              const DeviceView& device = fake_device())
      : policy_(descriptor.create(parameters)),
        hosts_(clients.size()),
        arbiter_(*policy_, descriptor.name, device, std::move(clients), *this, *this) {}

  // What a test does to the world. Times are absolute and not in the past.

  void at(Time when, std::function<void()> what) { events_.emplace(when, std::move(what)); }

  void join(std::uint32_t client) {
    arbiter_.join(ClientId{client});
    hosts_[client].is_present = true;
    pump(client);
  }

  /// The client leaves as soon as everything it submitted has completed; what is still scripted is forgotten.
  void leave(std::uint32_t client) {
    hosts_[client].script.clear();
    hosts_[client].is_leaving = true;
    leave_if_done(client);
  }

  /// Adds an operation to the client's script; its host submits it when it gets there. A refused one submits nothing.
  void script(std::uint32_t client, FakeOp op) {
    if (hosts_[client].is_refused) return;
    hosts_[client].script.push_back(std::move(op));
    pump(client);
  }

  void set_depth(std::uint32_t client, std::uint32_t depth) { hosts_[client].depth = depth; }

  /// An open-loop client: up to `count` of its operations may wait at the gate.
  void set_most_waiting(std::uint32_t client, std::uint32_t count) { hosts_[client].most_waiting = count; }

  /// Plays [now, end), then stands at `end`.
  void run_until(Time end) {
    settle();
    while (!is_silent() && next_instant() < end) step();
    now_ = end;
  }

  /// Plays until nothing can happen any more, or `instants` have passed. False in the latter case.
  bool run_dry(std::uint32_t instants) {
    settle();
    for (; !is_silent() && instants > 0; --instants) step();
    return is_silent();
  }

  // What a test sees.

  const std::vector<FakeLaunch>& launches() const { return launches_; }
  const std::vector<DecisionFact>& decisions() const { return decisions_; }
  Time wake() const { return wake_; }
  bool is_done(std::uint32_t client) const {
    const Host& host = hosts_[client];
    return host.script.empty() && host.waiting == 0 && host.in_flight == 0;
  }
  bool is_present(std::uint32_t client) const { return hosts_[client].is_present; }
  bool gate_is_open(std::uint32_t client) const { return arbiter_.gate_is_open(ClientId{client}); }
  std::uint32_t level(std::uint32_t client) const { return hosts_[client].level; }
  Arbiter& arbiter() { return arbiter_; }
  const std::vector<HoldFact>& holds() const { return holds_; }  ///< those that are over
  const std::vector<RefusalFact>& refusals() const { return refusals_; }
  const std::vector<KillFact>& restores() const { return restores_; }
  std::uint32_t kills(std::uint32_t client) const { return hosts_[client].kills; }
  std::uint32_t prefetches(std::uint32_t client) const { return hosts_[client].prefetches; }
  std::uint32_t waiting(std::uint32_t client) const { return hosts_[client].waiting; }

  /// What the driver's counters say of a client's working set from now on.
  void set_memory(std::uint32_t client, std::uint64_t resident_bytes, std::uint64_t paged_bytes) {
    hosts_[client].resident_bytes = resident_bytes;
    hosts_[client].paged_bytes = paged_bytes;
  }

  static constexpr Duration kSnapshotTime{std::chrono::milliseconds{10}};
  static constexpr Duration kRestoreTime{std::chrono::milliseconds{100}};

  std::vector<FakeLaunch> launches_of(std::uint32_t client) const {
    std::vector<FakeLaunch> its;
    std::ranges::copy_if(launches_, std::back_inserter(its),
                         [&](const FakeLaunch& launch) { return launch.client.value == client; });
    return its;
  }

  std::uint32_t shadows(std::uint32_t client) const { return hosts_[client].shadows; }

  /// The part of the game that frames show from now on, of all clients.
  std::uint32_t scene = 0;
  /// GPU time and quality that a shadow frame of a client at a level is found to have.
  std::function<ShadowFrame(std::uint32_t client, std::uint32_t level)> shadow_of = [](std::uint32_t, std::uint32_t) {
    return ShadowFrame{};
  };

  /// Whether the policy is asked even where it says that a decision would change nothing.
  bool decides_always = false;
  /// Called after every instant's last decision.
  std::function<void()> after_instant = [] {};

  // Backend.

  Time now() const override { return now_; }
  void launch(ClientId client, std::uint64_t number) override {
    Host& host = hosts_[client.value];
    if (host.waiting > 0) --host.waiting;
    ++host.in_flight;
    FakeOp& op = host.submitted.at(number);
    op.is_in_flight = true;
    launches_.push_back({now_, client, number, op.name});
    const Time begin = std::max(now_, host.free_at);
    host.free_at = begin + op.duration;
    if (op.is_render && op.begins_frame)
      at(begin, [this, client] { arbiter_.frame(client, FrameEvent::kBegin, frame_of(client, {})); });
    at(host.free_at, [this, client, number] {
      const auto ended = hosts_[client.value].submitted.find(number);
      if (ended != hosts_[client.value].submitted.end() && !ended->second.is_lost) complete(client, number);
    });
    touched_.push_back(client.value);
  }
  void snapshot(ClientId client) override { copy(client, CopyEvent::kSnapshot, kSnapshotTime); }
  void kill(ClientId client) override {
    Host& host = hosts_[client.value];
    ++host.kills;
    for (auto& [number, op] : host.submitted)
      if (op.is_in_flight && !op.is_lost) {
        op.is_lost = true;
        at(now_, [this, client, number = number] { complete(client, number); });
      }
    host.free_at = now_;
    copy(client, CopyEvent::kRestored, kRestoreTime);
  }
  void refuse(ClientId client) override {
    Host& host = hosts_[client.value];
    host.is_refused = true;
    host.waiting = 0;
    host.script.clear();
    host.is_leaving = true;
    at(now_, [this, client] { leave_if_done(client.value); });
  }
  void prefetch(ClientId client) override { ++hosts_[client.value].prefetches; }
  void control(const Action&) override {}
  std::uint64_t resident_bytes(ClientId client) const override { return hosts_[client.value].resident_bytes; }
  std::uint64_t paged_bytes(ClientId client) const override { return hosts_[client.value].paged_bytes; }
  void set_quality(ClientId client, std::uint32_t level) override { hosts_[client.value].level = level; }
  void shadow(ClientId client, std::uint32_t level) override { hosts_[client.value].shadow_level = level; }
  void wake_at(Time when) override { wake_ = when; }
  void request_decision() override { is_decision_due_ = true; }
  void spare_decision() override { is_decision_due_ |= decides_always; }
  Duration device_time(ClientId client) const override { return hosts_[client.value].device_time; }
  Duration device_busy() const override {
    Duration most{};
    for (const Host& host : hosts_) most = std::max(most, host.device_time);
    return most;
  }

 private:
  struct Host {
    std::deque<FakeOp> script;
    std::map<std::uint64_t, FakeOp> submitted;  // and not completed
    std::uint64_t next = 0;
    std::uint64_t frames = 0;
    std::uint32_t depth = 1;
    std::uint32_t most_waiting = 1;
    std::uint32_t waiting = 0;
    std::uint32_t in_flight = 0;
    std::uint32_t level = 0;
    std::optional<std::uint32_t> shadow_level;
    std::uint32_t shadows = 0;
    Time free_at;
    Duration device_time{};
    bool is_present = false;
    bool is_leaving = false;
    bool is_refused = false;
    std::uint32_t kills = 0;
    std::uint32_t prefetches = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t paged_bytes = 0;
  };

  void on_decision(const DecisionFact& fact) override { decisions_.push_back(fact); }
  void on_hold(const HoldFact& fact) override { holds_.push_back(fact); }
  void on_refusal(const RefusalFact& fact) override { refusals_.push_back(fact); }
  void on_kill(const KillFact& fact) override { restores_.push_back(fact); }

  void copy(ClientId client, CopyEvent event, Duration takes) {
    at(now_ + takes, [this, client, event] { arbiter_.copied(client, event); });
  }

  void pump(std::uint32_t client) {
    Host& host = hosts_[client];
    while (host.is_present && !host.script.empty() && host.waiting < host.most_waiting && host.in_flight < host.depth) {
      const FakeOp& op = host.submitted.emplace(host.next, host.script.front()).first->second;
      host.script.pop_front();
      ++host.waiting;
      arbiter_.submit(ClientId{client}, view_of(op, host.next++));
    }
  }

  OpView view_of(const FakeOp& op, std::uint64_t number) const {
    OpView view;
    view.number = number;
    view.name = op.name;
    view.is_render = op.is_render;
    view.is_copy = op.is_copy;
    view.blocks = op.blocks;
    view.bytes = op.bytes;
    view.is_to_device = op.is_to_device;
    view.is_from_device = op.is_from_device;
    view.sm_demand = op.sm_demand;
    view.position = op.position;
    view.exact = op.exact;
    view.predicted_by_name = op.predicted;
    view.predicted_by_shape = op.predicted_by_shape;
    view.submitted = now_;
    return view;
  }

  void complete(ClientId client, std::uint64_t number) {
    Host& host = hosts_[client.value];
    const FakeOp op = host.submitted.at(number);
    host.device_time += op.duration;
    --host.in_flight;
    arbiter_.complete(client, number, op.duration);
    if (op.is_render && op.ends_frame) end_frame(client, op);
    host.submitted.erase(number);
    leave_if_done(client.value);
    pump(client.value);
  }

  FrameView frame_of(ClientId client, const FakeOp& op) const {
    return {.number = hosts_[client.value].frames,
            .gpu_busy = op.duration,
            .quality_level = op.quality_level.value_or(hosts_[client.value].level),
            .scene = scene};
  }

  /// A shadow that was asked for is answered with the frame, as `shadow_of` says.
  void end_frame(ClientId client, const FakeOp& op) {
    Host& host = hosts_[client.value];
    arbiter_.frame(client, FrameEvent::kEnd, frame_of(client, op));
    if (const auto level = std::exchange(host.shadow_level, std::nullopt)) {
      ++host.shadows;
      ShadowFrame shadow = shadow_of(client.value, *level);
      shadow.number = host.frames;
      shadow.quality_level = *level;
      shadow.scene = scene;
      arbiter_.shadow(client, shadow);
    }
    ++host.frames;
  }

  void leave_if_done(std::uint32_t client) {
    Host& host = hosts_[client];
    if (!host.is_present || !host.is_leaving || !is_done(client)) return;
    host.is_present = host.is_leaving = host.is_refused = false;
    arbiter_.leave(ClientId{client});
  }

  bool is_silent() const { return events_.empty() && wake_ == kNever; }
  Time next_instant() const { return events_.empty() ? wake_ : std::min(wake_, events_.begin()->first); }

  void step() {
    now_ = next_instant();
    if (wake_ == now_) {
      wake_ = kNever;
      is_decision_due_ = true;
    }
    settle();
  }

  /// Everything of this instant: events first, then decisions, again and again while one leads to the other.
  void settle() {
    do {
      while (!events_.empty() && events_.begin()->first == now_) events_.extract(events_.begin()).mapped()();
      if (std::exchange(is_decision_due_, false)) arbiter_.decide();
      for (const std::uint32_t client : std::exchange(touched_, {})) pump(client);
    } while (is_decision_due_ || (!events_.empty() && events_.begin()->first == now_));
    after_instant();
  }

  std::unique_ptr<Policy> policy_;
  std::vector<Host> hosts_;
  std::multimap<Time, std::function<void()>> events_;
  std::vector<FakeLaunch> launches_;
  std::vector<DecisionFact> decisions_;
  std::vector<HoldFact> holds_;
  std::vector<RefusalFact> refusals_;
  std::vector<KillFact> restores_;
  std::vector<std::uint32_t> touched_;
  Time now_ = kRunStart;
  Time wake_ = kNever;
  bool is_decision_due_ = false;
  Arbiter arbiter_;
};

}  // namespace corun
