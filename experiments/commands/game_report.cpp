#include "experiments/commands/game_report.h"

#include <algorithm>
#include <optional>
#include <set>

#include "sim/workload/capture/frames.h"
#include "traces/base/error.h"

namespace corun {

namespace {

bool is_game(const Timeline& timeline) {
  return !timeline.frames().empty() &&
         std::ranges::all_of(timeline.ops(), [](const OpRecord& op) { return op.kind == OpKind::kRender; });
}

/// A log and what a replay would make of it; `refusal` where it would not.
struct Examined {
  FrameLog log;
  std::optional<FrameFigures> recorded;
  std::optional<PacedLog> paced;
  std::string refusal;
};

Examined examine(const Timeline& timeline) {
  Examined game{frame_log(timeline, {}), {}, {}, ""};
  game.recorded = game.log.figures();
  try {
    game.paced = paced_log(timeline, {});
  } catch (const Error& error) {
    game.refusal = error.help().empty() ? error.message() : fmt::format("{}; {}", error.message(), error.help());
  }
  if (timeline.fidelity().co_run) game.refusal = "other programs used the GPU; allow_co_run: true accepts it";
  return game;
}

std::string figures_text(const FrameFigures& figures) {
  return fmt::format("{:.4g} fps, 1 % low {:.4g} fps, p99 {:.4g} ms", figures.fps, figures.fps_1low,
                     1e3 * figures.frame_time_p99_s);
}

std::string sources_text(const Timeline& timeline) {
  std::set<std::pair<std::string_view, std::uint64_t>> programs;
  std::set<std::uint32_t> runs;
  for (const SwapchainRecord& chain : timeline.swapchains()) {
    programs.insert({timeline.text(chain.application), chain.process});
    runs.insert(chain.run);
  }
  const auto many = [](std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text =
      fmt::format("{}, {}", many(programs.size(), "program"), many(timeline.swapchains().size(), "swap chain"));
  if (runs.size() > 1) text += fmt::format(", {} runs", runs.size());
  return text;
}

std::string gpu_text(const FrameLog& log) {
  const double percent = std::min(100.0, 100 * log.gpu_share());
  switch (log.source) {
    case GpuTimeSource::kMeasured:
      return fmt::format("busy {:.1f} % of the frame time{}", percent,
                         log.is_still() ? "; the same for all frames" : "");
    case GpuTimeSource::kEnds:
      return fmt::format("busy {:.0f} % of the frame time, by when frames ended on it", percent);
    case GpuTimeSource::kLoad:
      return fmt::format("load {:.0f} % as logged, of all programs; times of frames unknown",
                         log.chain.gpu_load_ppm * 1e-4);
    default:
      return log.bounds ? fmt::format("unknown; by when frames ended on it, busy {:.0f} to {:.0f} % of the frame time",
                                      100 * log.bounds->least, 100 * log.bounds->most)
                        : "unknown";
  }
}

/// Frames during which the GPU had no time to spare.
double gpu_bound_share(const FrameLog& log) {
  std::size_t bound = 0, all = 0;
  for (std::size_t i = 0; i < log.frames.size(); ++i) {
    if (log.gpu_ns[i] < 0 || log.frames[i].interval_ns <= 0) continue;
    ++all;
    bound += 10 * log.gpu_ns[i] >= 9 * log.frames[i].interval_ns ? 1 : 0;
  }
  return all > 0 ? static_cast<double>(bound) / static_cast<double>(all) : 0;
}

std::string pace_text(const FrameLog& log, const FramePace& pace) {
  const auto rate = [](Duration period) { return 1e9 / static_cast<double>(to_ns(period)); };
  std::string text = fmt::format("{:.0f} % of frames bound by the GPU", 100 * gpu_bound_share(log));
  if (pace.limiter_period > Duration{0})
    text += fmt::format(", held back by a limiter of {:.4g}/s", rate(pace.limiter_period));
  else if (pace.vsync_period > Duration{0})
    text += fmt::format(", in step with a display of {:.4g} Hz", rate(pace.vsync_period));
  return text + fmt::format("; {} frame{} ahead of the GPU", pace.queued_ahead, pace.queued_ahead == 1 ? "" : "s");
}

}  // namespace

std::vector<std::pair<const char*, std::string>> game_report(const Timeline& timeline) {
  if (!is_game(timeline)) return {};
  const Examined game = examine(timeline);
  std::vector<std::pair<const char*, std::string>> lines;
  if (game.recorded) lines.emplace_back("frame rate", figures_text(*game.recorded));
  lines.emplace_back("GPU", gpu_text(game.log));
  if (game.paced) lines.emplace_back("pace", pace_text(game.paced->log, game.paced->pace));
  lines.emplace_back("found", sources_text(timeline));
  if (!game.refusal.empty()) {
    lines.emplace_back("replay", "no: " + game.refusal);
    return lines;
  }
  lines.emplace_back("replay", "alone " + figures_text(figures_alone(game.paced->log, game.paced->pace)));
  for (const std::string& note : game.paced->notes) lines.emplace_back("", note);
  return lines;
}

void add_game_report(Json& json, const Timeline& timeline) {
  if (!is_game(timeline)) return;
  const Examined game = examine(timeline);
  const auto add = [&](const char* name, const FrameFigures& figures) {
    json.key(name).object().field("fps", figures.fps).field("fps_1low", figures.fps_1low);
    json.field("frame_time_p99_s", figures.frame_time_p99_s).end();
  };
  json.key("game").object();
  if (game.recorded) add("recorded", *game.recorded);
  if (game.log.source != GpuTimeSource::kNone) json.field("gpu_share", game.log.gpu_share());
  if (game.paced) {
    json.field("gpu_bound_frames", gpu_bound_share(game.paced->log))
        .field("queued_ahead", game.paced->pace.queued_ahead);
    add("alone", figures_alone(game.paced->log, game.paced->pace));
  }
  json.field("is_still", game.log.is_still()).field("refusal", game.refusal).key("notes").array();
  if (game.paced)
    for (const std::string& note : game.paced->notes) json.value(note);
  json.end().end();
}

}  // namespace corun
