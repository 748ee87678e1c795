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
      : device_(make_device(spec)), engine_(engine), listener_(listener) {}

  /// Before anything else happens.
  void join(ClientId client, const ContextSpec& context) { device_->join(client, context); }

  /// The device as of moved_to().
  const DeviceModel& device() const { return *device_; }
  Time moved_to() const { return moved_to_; }

  /// Moves the device to the engine's present.
  void catch_up() {
    device_->advance(engine_.now(), completions_);
    moved_to_ = engine_.now();
  }
  /// Moves the device to the present, calls `change(device, completions)`, which may append to `completions`, and puts
  /// the event where the device's next change is from now on.
  template <class Change>
  void change(const Change& change) {
    catch_up();
    change(*device_, completions_);
    watch();
  }
  /// Asks for Listener::device_moved at this instant. Only within change().
  void report_at_once() { report_is_due_ = true; }

 private:
  static void on_change(void* subject, std::uint64_t) { static_cast<DeviceDriver*>(subject)->reach_change(); }
  void reach_change();
  void watch();
  void report_completions();

  const std::unique_ptr<DeviceModel> device_;
  Engine& engine_;
  Listener& listener_;
  EventHandle event_;
  Time event_time_ = kNever;
  Time moved_to_ = kRunStart;
  bool report_is_due_ = false;
  std::vector<Completion> completions_;  ///< to be reported
  std::vector<Completion> reported_;     ///< empty: its memory, to be used again
};

}  // namespace corun
