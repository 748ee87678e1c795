#pragma once

#include <cstdint>

#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// The world an Arbiter acts on: simulated, real or fake. The arbiter knows nothing else of it.
///
/// All calls come from the one thread that owns the arbiter.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Time now() const = 0;
  /// Hands the client's submission `number` to the device; the backend reports its end by Arbiter::complete.
  virtual void launch(ClientId client, std::uint64_t number) = 0;
  /// The client's next frame is rendered at `level` of its menu.
  virtual void set_quality(ClientId client, std::uint32_t level) = 0;
  /// Calls Arbiter::decide at `when`; replaces the wish of before; kNever takes it back.
  virtual void wake_at(Time when) = 0;
  /// Calls Arbiter::decide once, after everything else of this instant has been heard.
  virtual void request_decision() = 0;

  virtual Duration device_time(ClientId client) const = 0;  ///< measured so far
  virtual Duration device_busy() const = 0;                 ///< measured so far
};

}  // namespace corun
