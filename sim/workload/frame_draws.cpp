#include "sim/workload/frame_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traces/base/units.h"

namespace corun {

namespace {

using Pieces = std::vector<Duration>;

Pieces equal_pieces(Duration gpu, Duration each) {
  const std::int64_t count = std::clamp<std::int64_t>((gpu + each / 2) / each, 1, FrameDraws::kMostPieces);
  Pieces pieces;
  for (std::int64_t i = 0; i < count; ++i) pieces.push_back(gpu * (i + 1) / count - gpu * i / count);
  return pieces;
}

Pieces scaled_pieces(Duration gpu, const std::vector<std::int64_t>& ends_ns) {
  const Duration shortest = std::max(FrameDraws::kUncut, gpu / FrameDraws::kMostPieces);
  const double scale = static_cast<double>(gpu.count()) / static_cast<double>(ends_ns.back());
  Pieces pieces;
  Duration begin{};
  for (const std::int64_t end_ns : ends_ns) {
    const Duration end{std::llround(static_cast<double>(end_ns) * scale)};
    if (end - begin < shortest || gpu - end < shortest) continue;
    pieces.push_back(end - begin);
    begin = end;
  }
  pieces.push_back(gpu - begin);
  return pieces;
}

}  // namespace

FrameDraws::FrameDraws(const Timeline& timeline, std::uint32_t swapchain, Duration stated) : stated_(stated) {
  if (stated_ == Duration{0}) read_samples(timeline, swapchain);
}

// Frames and draws are in order of time; a draw belongs to the frame in whose GPU time it begins.
void FrameDraws::read_samples(const Timeline& timeline, std::uint32_t swapchain) {
  auto draw = timeline.draws().begin();
  for (const FrameRecord& frame : timeline.frames()) {
    if (frame.swapchain != swapchain || frame.gpu_begin_ns < 0) continue;
    Sample sample{frame.present_ns, {}};
    std::int64_t end_ns = 0;
    for (; draw != timeline.draws().end() && draw->start_ns < frame.gpu_end_ns; ++draw) {
      if (draw->swapchain != swapchain || draw->start_ns < frame.gpu_begin_ns) continue;
      sample.ends_ns.push_back(end_ns += draw->duration_ns);
    }
    if (end_ns > 0) samples_.push_back(std::move(sample));
  }
}

const FrameDraws::Sample& FrameDraws::sample_for(std::int64_t present_ns) const {
  const auto after = std::ranges::upper_bound(samples_, present_ns, {}, &Sample::present_ns);
  return after == samples_.begin() ? *after : *(after - 1);
}

std::vector<Duration> FrameDraws::cut(std::int64_t present_ns, Duration gpu) const {
  if (samples_.empty()) return equal_pieces(gpu, stated_ > Duration{0} ? stated_ : kUncut);
  return scaled_pieces(gpu, sample_for(present_ns).ends_ns);
}

std::string FrameDraws::note() const {
  if (!samples_.empty())
    return fmt::format("its frames are made of draws as {} sampled one{} are", samples_.size(),
                       samples_.size() == 1 ? "" : "s");
  if (stated_ > Duration{0})
    return fmt::format("its frames are made of draws of {}, as stated", format_duration(stated_));
  return fmt::format("what of its frames the device draws without a break was not recorded: taken as {}; state draw",
                     format_duration(kUncut));
}

}  // namespace corun
