#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// How many kernels a client may launch before the interposer waits for all of them, so that a lock that is dropped is
/// free soon. The launch that fills the window synchronises; how long that takes sets the next window.
class PendingKernelWindow {
 public:
  struct Limits {
    std::uint32_t most = 2048;                        ///< kernels; 0 = there is no window
    Duration halve_from{std::chrono::seconds{1}};     ///< a synchronisation at least this long halves the window
    Duration restart_from{std::chrono::seconds{10}};  ///< one at least this long starts again at one kernel
  };
  explicit PendingKernelWindow(const Limits& limits) : limits_(limits) {}

  void kernel_launched(Time now);
  void drained(Time now);      ///< nothing of the client is in flight: a synchronisation ends
  void reset() { size_ = 1; }  ///< kernels already launched since the last synchronisation still count

  bool synchronises() const { return is_synchronising_; }
  /// Kernels that may be launched now; the last of them synchronises. 0 while a synchronisation goes on.
  std::uint32_t room() const;
  bool is_unlimited() const { return limits_.most == 0; }
  std::uint32_t size() const { return size_; }         ///< kernels
  std::uint32_t pending() const { return launched_; }  ///< kernels launched since the last synchronisation

 private:
  Limits limits_;
  std::uint32_t size_ = 1;
  std::uint32_t launched_ = 0;
  bool is_synchronising_ = false;
  Time began_;
};

/// nvshare's library in one client's process: the gate before each intercepted call, the window of pending kernels, and
/// the timer that gives the lock back when the client falls idle.
///
/// It hears the messages of the daemon and what becomes of the client's operations; next_message() says what it sends.
/// An operation that `intercepts` does not cover passes and counts nowhere.
class NvshareInterposer {
 public:
  struct Settings {
    bool is_on = true;  ///< false: every client has the lock all the time ("anti-thrash off")
    bool intercepts_frames = true;
    Duration early_release{};       ///< idle time after which the probe looks, > 0
    bool probes_device = true;      ///< asks for the device's utilisation; else times a synchronisation
    Duration utilisation_window{};  ///< over which that utilisation is averaged
    Duration slip{};  ///< a call made this soon after the lock was dropped may have passed its check before
    PendingKernelWindow::Limits window;
  };
  enum class Message : std::uint8_t { kNone, kRequest, kRelease };

  explicit NvshareInterposer(const Settings& settings)
      : settings_(settings), window_(settings.window), has_lock_(!settings.is_on) {}

  void lock_granted(const GpuView& view);
  void lock_dropped(Time now);        ///< the gate shuts, what is in flight drains, then the lock is given back
  void turned(bool is_on, Time now);  ///< what the control tool says: off = it has the lock until that is on again
  void launched(const GpuView& view, const OpView& op);
  void completed(const OpView& op);

  /// Takes notice of what is over at this instant, and says what it sends to the daemon. Call until that is kNone.
  Message next_message(const GpuView& view, const ClientView& client);
  /// Whether that is kNone until it has got the lock: so it is with most.
  bool is_silent() const { return has_asked_ && !window_.synchronises(); }

  /// Whether the gate stands open: every operation passes until something is heard that shuts it.
  bool is_open() const { return has_lock_ && !probe_began_ && window_.is_unlimited(); }
  /// Whether none passes before the lock is granted, and there is nothing to look at before: so it is with most.
  bool stands_in_line(const ClientView& client) const {
    return !has_lock_ && !may_slip_ && (client.waiting.empty() || intercepts(client.waiting.front()));
  }
  /// How many of the first waiting operations pass the gate now.
  std::uint32_t passing(const ClientView& client) const;
  /// How many more would pass if they came now.
  std::uint32_t admits_ahead() const { return has_lock_ && !probe_began_ ? window_.room() : 0; }
  /// Why the others wait; `quantum_left` is that of the present holder.
  Hold hold(Duration quantum_left) const;
  /// When next_message() must look again if nothing else happens, later than now; kNever if never.
  Time next_look(Time now) const;
  /// The same once `passing` have been launched.
  Time next_look_after(Time now, std::span<const OpView> passing) const;
  bool has_lock() const { return has_lock_; }
  /// Nothing of it is in flight, for which something waits.
  bool has_drained() const {
    return in_flight_ == 0 && (window_.synchronises() || is_draining_ || probe_began_.has_value());
  }

 private:
  struct Reading {
    Time time;
    Duration busy{};
  };

  bool intercepts(const OpView& op) const { return settings_.intercepts_frames || !op.is_render; }
  bool may_pass(const OpView& op) const;
  bool slips(const OpView& op) const {
    return may_slip_ && op.submitted >= dropped_ && op.submitted <= dropped_ + settings_.slip;
  }
  bool wants_lock(const ClientView& client) const;
  bool finds_itself_idle(const GpuView& view);
  bool synchronisation_was_short(const GpuView& view);
  bool device_is_busy(const GpuView& view) const;
  void arm(const GpuView& view);
  Time idle_at() const { return armed_ + settings_.early_release; }
  Time reading_at() const { return reading_at(armed_); }
  Time reading_at(Time armed) const {
    return std::max(armed, armed + settings_.early_release - settings_.utilisation_window);
  }
  Time next_look(Time now, Time armed) const;

  Settings settings_;
  PendingKernelWindow window_;
  bool has_lock_;
  bool has_asked_ = false;
  bool is_draining_ = false;
  std::uint32_t in_flight_ = 0;      // intercepted operations
  Time armed_;                       // when the idle timer was last set
  Reading reading_;                  // of the device's busy time, at the start of the probe's window
  std::optional<Time> probe_began_;  // a probe that synchronises goes on
  bool may_slip_ = false;
  Time dropped_;
};

}  // namespace corun
