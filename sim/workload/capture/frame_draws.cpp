#include "sim/workload/capture/frame_draws.h"

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

/// The front end hands pieces of a pass over in advance, unless they take less than that or are long.
bool may_break(const DrawRecord& before, const DrawRecord& next) {
  const auto is_long = [](const DrawRecord& draw) { return draw.duration_ns >= to_ns(FrameDraws::kLong); };
  const bool is_ahead = before.duration_ns >= to_ns(FrameDraws::kHandOver) * before.calls;
  const bool is_of_pass = before.pass != 0 && before.pass == next.pass;
  return !is_of_pass || !is_ahead || is_long(before) || is_long(next);
}

/// Where draws end, in a frame that takes `gpu`.
Pieces scaled_ends(Duration gpu, const std::vector<std::int64_t>& ends_ns) {
  const double scale = static_cast<double>(gpu.count()) / static_cast<double>(ends_ns.back());
  Pieces ends;
  for (const std::int64_t end_ns : ends_ns) ends.emplace_back(std::llround(static_cast<double>(end_ns) * scale));
  return ends;
}

/// Cuts at the ends of draws that leave pieces nearest to kFinest: a long draw is not joined to short ones before it.
Pieces scaled_pieces(Duration gpu, const std::vector<std::int64_t>& ends_ns) {
  const Duration usual = std::max(FrameDraws::kFinest, 2 * gpu / FrameDraws::kMostPieces);
  Pieces pieces;
  Duration begin{}, before{};
  const auto cut_at = [&](Duration end) {
    pieces.push_back(end - begin);
    begin = end;
  };
  for (const Duration end : scaled_ends(gpu, ends_ns)) {
    const bool is_before_nearer = usual - (before - begin) < end - begin - usual;
    if (before > begin && end - begin > usual && is_before_nearer) cut_at(before);
    if (end - begin >= usual) cut_at(end);
    before = end;
  }
  if (pieces.empty() || gpu - begin > usual / 2) {
    cut_at(gpu);
  } else {
    pieces.back() += gpu - begin;
  }
  return pieces;
}

}  // namespace

FrameDraws::FrameDraws(const Timeline& timeline, std::uint32_t swapchain, Duration stated)
    : stated_(std::chrono::abs(stated)) {
  if (stated <= Duration{0}) read_samples(timeline, swapchain);
}

// Frames and draws are in order of time; a draw belongs to the frame in whose GPU time it begins.
void FrameDraws::read_samples(const Timeline& timeline, std::uint32_t swapchain) {
  auto draw = timeline.draws().begin();
  for (const FrameRecord& frame : timeline.frames()) {
    if (frame.swapchain != swapchain || frame.gpu_begin_ns < 0) continue;
    Sample sample{frame.present_ns, {}};
    std::int64_t end_ns = 0;
    const DrawRecord* before = nullptr;
    for (; draw != timeline.draws().end() && draw->start_ns < frame.gpu_end_ns; ++draw) {
      if (draw->swapchain != swapchain || draw->start_ns < frame.gpu_begin_ns) continue;
      if (before == nullptr || may_break(*before, *draw)) sample.ends_ns.push_back(end_ns);
      sample.ends_ns.back() = end_ns += draw->duration_ns;
      before = &*draw;
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

bool FrameDraws::are_unknown(const Workload& workload) {
  return std::ranges::any_of(workload.notes, [](const std::string& note) { return note.starts_with(kNotRecorded); });
}

std::string FrameDraws::note() const {
  if (!samples_.empty())
    return fmt::format("its frames are made of draws as {} sampled one{} are", samples_.size(),
                       samples_.size() == 1 ? "" : "s");
  if (stated_ > Duration{0})
    return fmt::format("its frames are made of draws of {}, as stated", format_duration(stated_));
  return fmt::format("{}: taken as {}; state draw", kNotRecorded, format_duration(kUncut));
}

}  // namespace corun
