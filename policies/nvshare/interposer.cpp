#include "policies/nvshare/interposer.h"

#include <algorithm>

namespace corun {

namespace {

// A probe that synchronises for less than this finds its client idle.
constexpr Duration kIdleSynchronisation = std::chrono::milliseconds{100};

}  // namespace

void PendingKernelWindow::kernel_launched(Time now) {
  ++launched_;
  if (is_synchronising_ || limits_.most == 0 || launched_ < size_) return;
  is_synchronising_ = true;
  began_ = now;
}

void PendingKernelWindow::drained(Time now) {
  if (!is_synchronising_) return;
  is_synchronising_ = false;
  launched_ = 0;
  const Duration took = now - began_;
  if (took >= limits_.restart_from) {
    size_ = 1;
  } else if (took >= limits_.halve_from) {
    size_ = std::max(size_ / 2, 1U);
  } else {
    size_ = std::min(2 * size_, limits_.most);
  }
}

std::uint32_t PendingKernelWindow::room() const {
  if (limits_.most == 0) return UINT32_MAX;
  if (is_synchronising_) return 0;
  return launched_ < size_ ? size_ - launched_ : 1;
}

void NvshareInterposer::lock_granted(const GpuView& view) {
  has_lock_ = true;
  has_asked_ = may_slip_ = false;
  arm(view);
}

void NvshareInterposer::lock_dropped(Time now) {
  if (!has_lock_) return;
  has_lock_ = false;
  probe_began_.reset();
  is_draining_ = true;
  window_.reset();
  // A host that synchronises is past its call.
  may_slip_ = settings_.slip > Duration::zero() && !window_.synchronises();
  dropped_ = now;
}

/// Off waits for a drain or a probe to end, whose thread hears it. On drains nothing.
void NvshareInterposer::turned(bool is_on, Time now) {
  if (settings_.is_on == is_on) return;
  settings_.is_on = is_on;
  has_asked_ = false;
  if (is_on) {
    if (has_lock_) may_slip_ = settings_.slip > Duration::zero() && !window_.synchronises();
    has_lock_ = false;
    dropped_ = now;
  } else if (!is_draining_) {
    has_lock_ = true;
    may_slip_ = false;
  }
}

void NvshareInterposer::launched(const GpuView& view, const OpView& op) {
  if (!intercepts(op)) return;
  ++in_flight_;
  if (op.is_kernel()) window_.kernel_launched(view.now);
  if (has_lock_) arm(view);
  if (!has_lock_) may_slip_ = false;
}

void NvshareInterposer::completed(const OpView& op) {
  if (intercepts(op)) --in_flight_;
}

NvshareInterposer::Message NvshareInterposer::next_message(const GpuView& view, const ClientView& client) {
  if (in_flight_ == 0) window_.drained(view.now);
  if (is_draining_) {
    if (in_flight_ > 0) return Message::kNone;
    is_draining_ = false;
    has_lock_ = !settings_.is_on;
    return Message::kRelease;
  }
  if (has_lock_) {
    if (!finds_itself_idle(view)) return Message::kNone;
    has_lock_ = !settings_.is_on;
    return Message::kRelease;
  }
  if (has_asked_ || !wants_lock(client)) return Message::kNone;
  has_asked_ = true;
  return Message::kRequest;
}

bool NvshareInterposer::wants_lock(const ClientView& client) const {
  const auto first = std::ranges::find_if(client.waiting, [&](const OpView& op) { return intercepts(op); });
  return first != client.waiting.end() && !slips(*first);
}

bool NvshareInterposer::finds_itself_idle(const GpuView& view) {
  if (probe_began_) return synchronisation_was_short(view);
  if (!settings_.is_on) return false;
  if (view.now >= reading_at() && reading_.time < reading_at()) reading_ = {view.now, view.device.busy};
  if (view.now < idle_at()) return false;
  if (!settings_.probes_device) {
    window_.reset();
    probe_began_ = view.now;
    return synchronisation_was_short(view);
  }
  if (!device_is_busy(view)) return true;
  arm(view);
  return false;
}

bool NvshareInterposer::synchronisation_was_short(const GpuView& view) {
  if (in_flight_ > 0) return false;
  const bool was_short = view.now - *probe_began_ < kIdleSynchronisation;
  probe_began_.reset();
  if (!was_short) arm(view);
  return was_short;
}

/// The driver reports whole per cent.
bool NvshareInterposer::device_is_busy(const GpuView& view) const {
  if (std::ranges::any_of(view.clients, [](const ClientView& client) { return client.in_flight > 0; })) return true;
  const Duration window = view.now - reading_.time;
  return window > Duration::zero() && 100 * (view.device.busy - reading_.busy) >= window;
}

void NvshareInterposer::arm(const GpuView& view) {
  armed_ = view.now;
  reading_ = {view.now, view.device.busy};
}

bool NvshareInterposer::may_pass(const OpView& op) const { return (has_lock_ && !probe_began_) || slips(op); }

std::uint32_t NvshareInterposer::passing(const ClientView& client) const {
  if (!has_lock_ && !may_slip_ && settings_.intercepts_frames) return 0;  // as with most
  std::uint32_t passed = 0;
  std::uint32_t room = window_.room();
  for (const OpView& op : client.waiting) {
    if (intercepts(op)) {
      if (room == 0 || !may_pass(op)) break;
      // What slips past is one call of the one thread that a host has.
      if (!has_lock_) return passed + 1;
      if (op.is_kernel()) --room;
    }
    ++passed;
  }
  return passed;
}

Hold NvshareInterposer::hold(Duration quantum_left) const {
  if (window_.synchronises()) {
    return {"pending_window", static_cast<double>(window_.pending()) + 1.0, static_cast<double>(window_.size()),
            "kernels"};
  }
  if (is_draining_) return {"drain", 0.0, 0.0, ""};
  if (probe_began_) return {"idle_probe", 0.0, 0.0, ""};
  return {"lock", static_cast<double>(to_ns(quantum_left)), 0.0, "ns"};
}

Time NvshareInterposer::next_look(Time now) const { return next_look(now, armed_); }

Time NvshareInterposer::next_look_after(Time now, std::span<const OpView> passing) const {
  const bool arms = std::ranges::any_of(passing, [&](const OpView& op) { return intercepts(op); });
  return next_look(now, arms ? now : armed_);
}

Time NvshareInterposer::next_look(Time now, Time armed) const {
  if (!settings_.is_on || !has_lock_ || probe_began_) return kNever;
  return reading_at(armed) > now && settings_.probes_device ? reading_at(armed) : armed + settings_.early_release;
}

}  // namespace corun
