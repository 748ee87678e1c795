#include "sim/executor/worker.h"

#include <exception>
#include <memory>

#include "sim/executor/device_context.h"
#include "sim/executor/wall_clock.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

void measure(DeviceContext& context, Channel& channel) {
  context.describe(channel);
  if (channel.setup.shapes > 0) warm_up(context, channel.shapes[0]);
  for (std::uint32_t i = 0; i < channel.setup.shapes; ++i) measure_shape(context, channel.shapes[i]);
  for (Stamp& stamp : channel.stamps) stamp = Stamp{};
}

void serve(DeviceContext& context, Channel& channel) {
  std::uint64_t next = 0;
  while (!channel.is_to_end.load(std::memory_order_acquire)) {
    context.look();
    if (next == channel.posted.load(std::memory_order_acquire)) {
      rest();
      continue;
    }
    CallTimes& times = channel.calls[next % Channel::kDepth];
    times.begin_ns = WallClock::monotonic_ns();
    context.carry_out(channel.command(next));
    times.end_ns = WallClock::monotonic_ns();
    channel.taken.store(++next, std::memory_order_release);
  }
  context.drain();
}

int fail(Channel& channel, ErrorKind kind, const char* why) {
  set_text(channel.error, why);
  channel.error_kind = static_cast<std::int32_t>(kind);
  channel.state.store(WorkerState::kFailed, std::memory_order_release);
  return channel.error_kind;
}

}  // namespace

int run_worker(Channel& channel) {
  std::unique_ptr<DeviceContext> context;  // outlives the catching: ending a broken one may take long
  try {
    context = channel.setup.is_graphics ? make_graphics_context(channel) : make_compute_context(channel);
    measure(*context, channel);
    channel.state.store(WorkerState::kReady, std::memory_order_release);
    serve(*context, channel);
    channel.state.store(WorkerState::kEnded, std::memory_order_release);
    return 0;
  } catch (const Error& error) {
    return fail(channel, error.kind(), error.what());
  } catch (const std::exception& error) {
    return fail(channel, ErrorKind::kDevice, error.what());
  }
}

}  // namespace corun::executor
