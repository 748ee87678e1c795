#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/engine/engine.h"

namespace corun {

/// Moves a device model along an engine's time: keeps one event at the device's next change, and reports what
/// completed.
class DeviceDriver {
 public:
  /// What the driver reports to.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void completed(const Completion& completion) = 0;
    /// The device has reached a change of its own, and everything that completed there has been reported.
    virtual void device_moved() = 0;
  };

  /// `engine` and `listener` must outlive it.
  DeviceDriver(const DeviceSpec& spec, Engine& engine, Listener& listener)
      : device_(make_device(spec)),
        is_steady_(spec.sharing != Sharing::kConcurrent && !pages(spec)),
        engine_(engine),
        listener_(listener) {}

  /// Before anything else happens.
  void join(ClientId client, const ContextSpec& context) { device_->join(client, context); }

  /// Before anything happens on the device, see DeviceModel.
  void go_on_after(const LastTurn& turn) { device_->go_on_after(turn); }

  /// The device as of moved_to(); what it says of times may be older before catch_up_device().
  const DeviceModel& device() const { return *device_; }
  Time moved_to() const { return moved_to_; }

  /// Moves the device to the engine's present.
  void catch_up() {
    device_->advance(engine_.now(), completions_);
    moved_to_ = engine_.now();
    is_behind_ = false;
  }
  /// Moves the device to the present, calls `change(device, completions)`, which may append to `completions`, and puts
  /// the event where the device's next change is from now on.
  template <class Change>
  void change(const Change& change) {
    catch_up();
    change(*device_, completions_);
    watch(next_due());
  }
  /// Hands `op` over and calls `and_then()`, as by change(). A steady device is left behind where `op` only queues.
  template <class AndThen>
  void submit(const DeviceOp& op, const AndThen& and_then) {
    if (may_fall_behind()) {
      moved_to_ = engine_.now();
      is_behind_ = true;
    } else {
      catch_up();
    }
    device_->submit(op, moved_to_);
    and_then();
    watch(next_due());
  }
  /// Moves a device that was left behind to moved_to(), for what it tells of times, and appends the clients whose
  /// device time has changed since the last call.
  void catch_up_device(std::vector<ClientId>& newer_times) {
    if (is_behind_ && device_->next_change() > moved_to_) device_->advance(moved_to_, completions_);
    is_behind_ = false;
    device_->take_newer_times(newer_times);
  }
  /// Asks for Listener::device_moved at this instant. Only within change() and submit().
  void report_at_once() { report_is_due_ = true; }

 private:
  static void on_change(void* subject, std::uint64_t) { static_cast<DeviceDriver*>(subject)->reach_change(); }
  void reach_change();
  bool passes_change();
  bool may_fall_behind() const {
    return is_steady_ && !engine_.is_step_by_step() && device_->next_change() > engine_.now();
  }
  Time next_due() const;  ///< when the device changes next, or completions are to be reported
  void watch(Time due);
  void report_completions();

  const std::unique_ptr<DeviceModel> device_;
  const bool is_steady_;  ///< between its changes nothing depends on when it is moved
  Engine& engine_;
  Listener& listener_;
  EventHandle event_;
  Time event_time_ = kNever;
  Time moved_to_ = kRunStart;
  bool is_behind_ = false;  ///< the device was not moved to moved_to_, unless what was submitted moved it
  bool report_is_due_ = false;
  std::vector<Completion> completions_;  ///< to be reported
  std::vector<Completion> reporting_;    ///< while they are; else empty, its memory to be used again
};

}  // namespace corun
