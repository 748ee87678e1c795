#pragma once

#include <atomic>

#include "tracer/gate/driver/driver.h"

namespace corun::gate {

/// Streams of this process that are being captured into graphs. Any thread.
class Captures {
 public:
  /// `driver` is loaded before anything but began() and ended() is called, and outlives this.
  explicit constexpr Captures(const Driver& driver) : driver_(driver) {}

  void began() { count_.fetch_add(1); }
  void ended();
  bool has_any() const { return count_.load() > 0; }
  bool includes(void* stream) const;
  /// Whether an event can be recorded in the stream without spoiling a capture.
  bool may_record(void* stream) const;

 private:
  const Driver& driver_;
  std::atomic<int> count_{0};
};

}  // namespace corun::gate
