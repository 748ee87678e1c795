#include "sim/executor/worker/worker.h"

#include <exception>
#include <memory>

#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/device_context.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

std::unique_ptr<DeviceContext> make_context(Channel& channel) {
  return channel.setup.is_graphics ? make_graphics_context(channel) : make_compute_context(channel);
}

void measure(DeviceContext& context, Channel& channel) {
  context.describe(channel);
  if (channel.setup.shapes > 0) warm_up(context, channel.shapes[0]);
  for (std::uint32_t i = 0; i < channel.setup.shapes; ++i)
    measure_shape_with_traffic(context, channel.shapes[i], channel.setup.traffic);
  if (channel.setup.shapes > 0) channel.gap_ns = context.gap_ns(channel.shapes[0]);
  for (Stamp& stamp : channel.stamps) stamp = Stamp{};
}

void set_sm_cap(std::unique_ptr<DeviceContext>& context, Channel& channel, double fraction) {
  context->drain();
  context.reset();  // first: both might not fit into the device's memory
  channel.setup.sm_cap = fraction;
  context = make_context(channel);
}

bool is_asked(Channel& channel, std::uint64_t next) {
  return channel.asked.load(std::memory_order_acquire) != channel.answered.load(std::memory_order_relaxed) &&
         channel.request.after <= next;
}

void answer(std::unique_ptr<DeviceContext>& context, Channel& channel) {
  const Request request = channel.request;
  const std::int64_t begin_ns = WallClock::monotonic_ns();
  if (request.kind == RequestKind::kSmCap) {
    set_sm_cap(context, channel, request.fraction);
  } else {
    context->answer(request);
  }
  channel.answer = {begin_ns, WallClock::monotonic_ns()};
  channel.answered.fetch_add(1, std::memory_order_release);
}

void hand_over(DeviceContext& context, Channel& channel, std::uint64_t number) {
  CallTimes& times = channel.calls[number % Channel::kDepth];
  times.begin_ns = WallClock::monotonic_ns();
  context.carry_out(channel.command(number));
  times.end_ns = WallClock::monotonic_ns();
  channel.taken.store(number + 1, std::memory_order_release);
}

void serve(std::unique_ptr<DeviceContext>& context, Channel& channel) {
  std::uint64_t next = channel.setup.first_number;
  while (!channel.is_to_end.load(std::memory_order_acquire)) {
    context->look();
    if (is_asked(channel, next))
      answer(context, channel);
    else if (next != channel.posted.load(std::memory_order_acquire))
      hand_over(*context, channel, next++);
    else
      rest();
  }
  context->drain();
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
    context = make_context(channel);
    if (!channel.setup.is_measured) measure(*context, channel);
    channel.state.store(WorkerState::kReady, std::memory_order_release);
    serve(context, channel);
    channel.state.store(WorkerState::kEnded, std::memory_order_release);
    return 0;
  } catch (const Error& error) {
    return fail(channel, error.kind(), error.what());
  } catch (const std::exception& error) {
    return fail(channel, ErrorKind::kDevice, error.what());
  }
}

}  // namespace corun::executor
