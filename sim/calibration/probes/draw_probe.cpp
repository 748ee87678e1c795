#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>

#include "sim/calibration/probes/probe.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/device_context.h"
#include "traces/base/error.h"

namespace corun::calibration {

namespace {

using executor::Channel;
using executor::Command;
using executor::Stamp;
using executor::WallClock;

/// Frames of several draws, each flushed and timed by itself.
class Frames {
 public:
  Frames(const ProbeRequest& request) : draws_(static_cast<std::uint64_t>(request.setting("draws", 1))) {
    channel_->setup.device = request.device;
    channel_->setup.is_graphics = true;
    channel_->setup.width = static_cast<std::uint32_t>(request.setting("width", 1920));
    channel_->setup.height = static_cast<std::uint32_t>(request.setting("height", 1080));
    executor::set_text(channel_->setup.library, request.library);
    context_ = executor::make_graphics_context(*channel_);
    context_->describe(*channel_);
    executor::ShapeLaw& law = channel_->shapes[0];
    warm_up(*context_, law);
    measure_shape(*context_, law);
    const auto frame_ns = static_cast<double>(request.setting("frame_ns", 8'000'000));
    iterations_ = std::max<std::uint64_t>(1, law.iterations_in(frame_ns / static_cast<double>(draws_)));
    for (Stamp& stamp : channel_->stamps) stamp = Stamp{};
  }

  /// Returns the first of its draws.
  std::uint64_t submit() {
    const std::uint64_t first = next_;
    for (std::uint64_t i = 0; i < draws_; ++i) {
      Command command;
      command.kind = executor::CommandKind::kRender;
      command.number = next_++;
      command.iterations = iterations_;
      context_->carry_out(command);
    }
    return first;
  }

  bool is_done(std::uint64_t first) {
    context_->look();
    const std::uint64_t last = first + draws_ - 1;
    return std::atomic_ref(channel_->stamp(last).ticket).load(std::memory_order_acquire) == last + 1;
  }
  void await(std::uint64_t first) {
    while (!is_done(first)) executor::rest();
  }
  void drain() { context_->drain(); }

  std::int64_t begin_of(std::uint64_t first) const { return to_host(channel_->stamp(first).begin_ns); }
  std::int64_t end_of(std::uint64_t first) const { return to_host(channel_->stamp(first + draws_ - 1).end_ns); }
  /// Time between begin and end of its draws, added up.
  std::int64_t drawn_ns(std::uint64_t first) const {
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < draws_; ++i) {
      const Stamp& stamp = channel_->stamp(first + i);
      sum += static_cast<std::int64_t>(stamp.end_ns - stamp.begin_ns);
    }
    return sum;
  }
  const char* device_name() const { return channel_->device_name; }
  std::int64_t clock_error_ns() const { return channel_->clock_error_ns; }

 private:
  std::int64_t to_host(std::uint64_t shown) const {
    return static_cast<std::int64_t>(shown) + channel_->clock_offset_ns;
  }

  executor::MappedChannel channel_ = executor::MappedChannel::create();
  std::unique_ptr<executor::DeviceContext> context_;
  std::uint64_t draws_, iterations_ = 1, next_ = 0;
};

/// Mesa's renderer stands in where EGL finds no GPU: its times would be of another device.
void refuse_processor(std::string_view renderer, const ProbeRequest& request) {
  if (renderer.find("llvmpipe") == std::string_view::npos || request.setting("on_processor", 0) != 0) return;
  throw Error(ErrorKind::kUnsupported, {}, fmt::format("OpenGL is rendered by the processor ({})", renderer),
              "frames need EGL and OpenGL of the GPU's driver");
}

void note(const Frames& frames, std::uint64_t first, std::int64_t submitted, std::int64_t start, Sample& sample) {
  sample.series["submit_ns"].push_back(submitted - start);
  sample.series["begin_ns"].push_back(frames.begin_of(first) - start);
  sample.series["end_ns"].push_back(frames.end_of(first) - start);
  sample.series["drawn_ns"].push_back(frames.drawn_ns(first));
}

}  // namespace

/// Frames of `frame_ns` in `draws` draws, `ahead` of them queued, at most one every `period_ns` (0 = uncapped), each
/// followed by a finish where `finish` is 1; for `duration_ns`, into `width` x `height` pixels.
Sample probe_draw(const ProbeRequest& request, const AwaitStart& await_start) {
  Frames frames(request);
  refuse_processor(frames.device_name(), request);
  Sample sample;
  sample.texts["device"] = frames.device_name();
  sample.series["clock_error_ns"] = {frames.clock_error_ns()};
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t first = frames.submit();
    frames.await(first);
    sample.series["alone_ns"].push_back(frames.end_of(first) - frames.begin_of(first));
  }
  struct Queued {
    std::uint64_t first;
    std::int64_t submitted;
  };
  std::deque<Queued> queue;
  const auto ahead = static_cast<std::size_t>(std::clamp<std::int64_t>(request.setting("ahead", 1), 1, 64));
  const std::int64_t period = request.setting("period_ns", 0);
  const bool finishes = request.setting("finish", 0) != 0;
  const std::int64_t start = await_start(), end = start + request.setting("duration_ns", 1'000'000'000);
  std::int64_t next = start;
  const auto take_front = [&] {
    frames.await(queue.front().first);
    note(frames, queue.front().first, queue.front().submitted, start, sample);
    queue.pop_front();
  };
  while (WallClock::monotonic_ns() < end) {
    if (queue.size() == ahead) {
      take_front();
      continue;
    }
    while (WallClock::monotonic_ns() < next) {
      if (next - WallClock::monotonic_ns() > 300'000) {
        usleep(100);
      } else {
        executor::rest();
      }
    }
    const std::int64_t submitted = WallClock::monotonic_ns();
    queue.push_back({frames.submit(), submitted});
    if (finishes) frames.drain();
    next = std::max(next + period, period > 0 ? submitted : 0);
  }
  while (!queue.empty()) take_front();
  return sample;
}

}  // namespace corun::calibration
