#pragma once

#include <memory>

#include "sim/executor/worker/channel.h"

namespace corun::executor {

/// What a worker has of the device: a context for kernels and copies, or one for graphics.
class DeviceContext {
 public:
  virtual ~DeviceContext() = default;

  /// Fills in how far the device's clock is from the host's, and the device's name.
  virtual void describe(Channel& channel) = 0;
  /// Bandwidth of the device's memory, where surrogates are to draw some of it; else 0.
  virtual double memory_bytes_per_ns() const { return 0.0; }
  /// Time that one surrogate of a shape takes with so many iterations, alone.
  virtual double trial_ns(const ShapeLaw& shape, std::uint64_t iterations) = 0;

  /// From the end of a surrogate of that shape to the start of the next one behind it in its stream.
  virtual double gap_ns(const ShapeLaw&) { return 0.0; }

  /// Hands a command to the driver, which goes on with it by itself.
  virtual void carry_out(const Command& command) = 0;
  /// Does what is asked and waits for it: all kinds but kSmCap, which takes another context. Throws Error(kUnsupported)
  /// where it cannot.
  virtual void answer(const Request& request);
  /// Writes the stamps of operations that cannot do it themselves. Called all the time.
  virtual void look() {}
  /// Waits for what has been handed over.
  virtual void drain() = 0;
};

/// A context of the CUDA driver that the channel's setup names. Kernels write their stamps themselves.
std::unique_ptr<DeviceContext> make_compute_context(Channel& channel);

/// A context of OpenGL through EGL, without a screen: renders into a texture, one draw an operation, timed by queries.
/// Throws Error(kUnsupported) where there is no EGL or no device for it.
std::unique_ptr<DeviceContext> make_graphics_context(Channel& channel);

/// Keeps the device at work for about 100 ms, so that it is at the speed at which it then is measured and used.
void warm_up(DeviceContext& context, const ShapeLaw& shape);

/// Measures what a shape costs in a context and fills in its law: runs of 0, 16, 32, ... iterations until one takes at
/// least 200 us and four times as long as none, then of counts between where the law errs by more than 1 %.
void measure_shape(DeviceContext& context, ShapeLaw& shape);

/// The same for a surrogate that draws `traffic` of the memory's bandwidth besides: chooses how often its threads read,
/// and stores what they then draw. A shape of few threads may draw less at its most.
void measure_shape_with_traffic(DeviceContext& context, ShapeLaw& shape, double traffic);

/// Of a thread that must not sleep: others may need its processor where there are too few.
void rest();

}  // namespace corun::executor
