#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/prediction.h"
#include "sim/calibration/fits/together.h"

namespace corun::calibration {

namespace {

constexpr std::array kRules = {GraphicsScheduling::kToCompletion, GraphicsScheduling::kSliced,
                               GraphicsScheduling::kFirst};
constexpr std::array<const char*, 3> kRuleNames = {"to_completion", "sliced", "first"};
constexpr std::int64_t kShortVisitNs = 1'000;  // of an extra visit that draws nothing
constexpr int kMostExtraVisits = 2;
constexpr Duration kForEver = std::chrono::hours{1};

/// Frames co-located with some spinners, as they were measured.
struct Scene {
  std::string trial;
  std::size_t computing = 0;
  std::size_t draws = 1, ahead = 1;
  bool is_finished = false;
  std::int64_t period_ns = 0;
  double alone_ns = 0;                                 ///< of a frame
  double frame_ns = 0;                                 ///< from end to end, median
  double longest_absence_ns = 0, computing_share = 0;  ///< of the spinners together
};

bool read_scene(const Together& probes, Scene& scene) {
  const Sample& draw = *probes.front();
  if (draw.probe != "draw" || draw.of("end_ns").size() < 5 || draw.of("alone_ns").empty()) return false;
  scene.trial = draw.trial;
  scene.computing = probes.size() - 1;
  scene.draws = static_cast<std::size_t>(draw.setting("draws", 1));
  scene.ahead = static_cast<std::size_t>(draw.setting("ahead", 1));
  scene.is_finished = draw.setting("finish") != 0;
  scene.period_ns = draw.setting("period_ns");
  std::vector<double> frames;
  const Series& ends = draw.of("end_ns");
  for (std::size_t i = 1; i < ends.size(); ++i) frames.push_back(as_double(ends[i] - ends[i - 1]));
  scene.alone_ns = median(numbers(draw, "alone_ns"));
  // The mean: frames under sharing alternate between a few lengths.
  scene.frame_ns = std::accumulate(frames.begin(), frames.end(), 0.0) / static_cast<double>(frames.size());
  for (std::size_t i = 1; i < probes.size(); ++i) {
    const Sample& spinner = *probes[i];
    for (const std::int64_t gap : spinner.of("gap_length_ns"))
      scene.longest_absence_ns = std::max(scene.longest_absence_ns, as_double(gap));
    scene.computing_share += share_of_spinner(spinner);
  }
  return true;
}

std::vector<Scene> scenes_of(const Samples& samples) {
  std::vector<std::string> trials;
  for (const Sample& sample : samples)
    if (sample.probe == "draw" && std::ranges::find(trials, sample.trial) == trials.end())
      trials.push_back(sample.trial);
  std::vector<Scene> scenes;
  for (const std::string& trial : trials)
    for (const Together& probes : together(samples, trial))
      if (Scene scene; read_scene(probes, scene)) scenes.push_back(scene);
  return scenes;
}

/// How a device would be that treats graphics so, with extra visits in a frame in addition to those of its draws.
struct Hypothesis {
  GraphicsScheduling rule = GraphicsScheduling::kToCompletion;
  Duration slice{};        ///< DeviceSpec::graphics_slice
  int extra = 0;           ///< visits of a frame that the program goes on after
  int extra_finished = 0;  ///< visits of one that it finishes
};

struct FramesAndCompute {
  double frame_ns = 0;
  double computing_share = 0;
};

FramesAndCompute rehearse(const Scene& scene, const Hypothesis& hypothesis, DeviceSpec device) {
  constexpr Duration kLength = std::chrono::seconds{1};
  device.graphics = hypothesis.rule;
  device.graphics_slice = hypothesis.slice;
  device.sharing = Sharing::kTimeSliced;
  Program frames{.kind = OpKind::kRender, .ahead = scene.ahead, .period = Duration{scene.period_ns}};
  for (std::size_t i = 0; i < scene.draws; ++i)
    frames.ops.push_back(Duration{static_cast<std::int64_t>(scene.alone_ns / static_cast<double>(scene.draws))});
  const int extra = scene.is_finished ? hypothesis.extra_finished : hypothesis.extra;
  for (int i = 0; i < extra; ++i) frames.ops.push_back(Duration{kShortVisitNs});
  std::vector<Program> programs = {frames};
  for (std::size_t i = 0; i < scene.computing; ++i) programs.push_back({.ops = {2 * kLength}, .shape = kOneThread});
  const std::vector<Progress> progress = predict(device, programs, kLength);
  FramesAndCompute out{progress[0].job_ns > 0 ? progress[0].job_ns : 1e9, 0};
  for (std::size_t i = 1; i < progress.size(); ++i) out.computing_share += progress[i].device_share;
  return out;
}

/// Mean of the absolute logarithms of predicted over measured frames.
double misfit(const std::vector<Scene>& scenes, const Hypothesis& hypothesis, const DeviceSpec& device) {
  double sum = 0;
  for (const Scene& scene : scenes)
    sum += std::abs(std::log(rehearse(scene, hypothesis, device).frame_ns / scene.frame_ns));
  return scenes.empty() ? std::numeric_limits<double>::infinity() : sum / static_cast<double>(scenes.size());
}

/// Those that are looked at, uncapped frames co-located with one computing context: the others stay for checking.
std::vector<Scene> seen_of(const std::vector<Scene>& scenes, bool is_finished) {
  std::vector<Scene> seen;
  for (const Scene& scene : scenes)
    if (scene.computing == 1 && scene.period_ns == 0 && scene.is_finished == is_finished) seen.push_back(scene);
  return seen;
}

/// From which length on a turn of graphics ends: values from `from` to `to` make the same of the frames.
struct SliceRange {
  double from_ns = 0, to_ns = 0;
  Duration value() const {
    if (from_ns == 0) return {};
    const double usual_ns = as_double(kOpenDriverSlice.count());
    if (from_ns < usual_ns && usual_ns <= to_ns) return kOpenDriverSlice;
    return Duration{static_cast<std::int64_t>((from_ns + to_ns) / 2)};
  }
};

/// A turn ends after a draw, so only the instants at which draws end distinguish slices.
std::vector<SliceRange> slice_ranges(const std::vector<Scene>& seen) {
  constexpr double kAlike = 1.02;
  std::vector<double> ends = {0};
  for (const Scene& scene : seen)
    for (std::size_t draw = 1; draw <= scene.draws; ++draw)
      ends.push_back(scene.alone_ns * static_cast<double>(draw) / static_cast<double>(scene.draws));
  std::ranges::sort(ends);
  std::vector<SliceRange> ranges;
  for (const double end : ends)
    if (ranges.empty() || end > ranges.back().to_ns * kAlike)
      ranges.push_back({ranges.empty() ? 0 : ranges.back().to_ns, end});
  std::erase_if(ranges, [](const SliceRange& range) { return range.to_ns == 0; });
  return ranges;
}

struct Choice {
  Hypothesis hypothesis;
  SliceRange slice;
  double misfit = std::numeric_limits<double>::infinity();
};

Choice best_of_rule(GraphicsScheduling rule, const std::vector<Scene>& seen, const DeviceSpec& device) {
  constexpr double kNoBetter = 1e-4;  // what needs less is preferred
  Choice best;
  for (const SliceRange& slice : slice_ranges(seen)) {
    if (rule != GraphicsScheduling::kToCompletion && slice.from_ns > 0) continue;
    for (int extra = 0; extra <= kMostExtraVisits; ++extra) {
      const Hypothesis hypothesis{rule, slice.value(), extra, extra};
      const double error = misfit(seen, hypothesis, device);
      if (error < best.misfit - kNoBetter) best = {hypothesis, slice, error};
    }
  }
  return best;
}

Choice choose(const std::vector<Scene>& scenes, const DeviceSpec& device, std::vector<std::string>& notes) {
  const std::vector<Scene> seen = seen_of(scenes, false), finished = seen_of(scenes, true);
  Choice best;
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    const Choice of_rule = best_of_rule(kRules[rule], seen, device);
    if (of_rule.misfit > 1e9) continue;
    notes.push_back(
        fmt::format("`{}` with {} extra visits a frame misses uncapped frames with one computing context by {:.1f} %",
                    kRuleNames[rule], of_rule.hypothesis.extra, 100 * std::expm1(of_rule.misfit)));
    if (of_rule.misfit < best.misfit) best = of_rule;
  }
  double least = std::numeric_limits<double>::infinity();
  for (int extra = 0; extra <= kMostExtraVisits && !finished.empty(); ++extra) {
    Hypothesis hypothesis = best.hypothesis;
    hypothesis.extra_finished = extra;
    const double error = misfit(finished, hypothesis, device);
    if (error >= least) continue;
    least = error;
    best.hypothesis.extra_finished = extra;
  }
  return best;
}

std::string title_of(const Scene& scene) {
  return fmt::format("{}{} of {} in {} draws, {} ahead, with {} computing",
                     scene.period_ns > 0 ? "paced frames" : "frames", scene.is_finished ? ", finished," : "",
                     text_of(scene.alone_ns, Unit::kNs), scene.draws, scene.ahead, scene.computing);
}

Finding slice_finding(const Choice& best, const std::vector<Scene>& scenes, const DeviceSpec& device) {
  Finding finding{.key = "graphics_slice", .title = "turn of graphics that has more to draw"};
  const Duration value = best.slice.value();
  finding.value = {as_double(to_ns(value)), best.slice.from_ns, best.slice.to_ns, scenes.size()};
  finding.method =
      "uncapped frames of one, two and four draws with one computing context: values within the spread "
      "explain them equally";
  if (value == kOpenDriverSlice) finding.notes = {"the driver's default slice lies within and is taken"};
  finding.notes.push_back("a draw is not cut: a turn ends after the first one that ends later than this");
  for (const Scene& scene : scenes) {
    if (scene.computing == 0 || scene.draws < 2) continue;
    Comparison c{title_of(scene), scene.frame_ns, rehearse(scene, best.hypothesis, device).frame_ns};
    for (const auto& [name, slice] :
         {std::pair{"each draw a turn", Duration{}}, std::pair{"all draws a turn", kForEver}}) {
      Hypothesis rival = best.hypothesis;
      rival.slice = slice;
      c.nulls.push_back({name, rehearse(scene, rival, device).frame_ns});
    }
    finding.comparisons.push_back(c);
  }
  return finding;
}

Finding rule_finding(const Choice& best, const std::vector<Scene>& scenes, std::vector<std::string> notes) {
  Finding rule{.key = "graphics", .title = "graphics with compute", .unit = Unit::kChoice};
  rule.choice = kRuleNames[static_cast<std::size_t>(best.hypothesis.rule)];
  rule.method = fmt::format(
      "frames by OpenGL in {} situations: the rule that misses uncapped frames with one computing context least",
      scenes.size());
  notes.push_back(
      fmt::format("{} extra visits a frame are taken, {} where the program waits for its end (glFinish); scenes with "
                  "two and three and paced ones were not looked at for it",
                  best.hypothesis.extra, best.hypothesis.extra_finished));
  rule.notes = std::move(notes);
  return rule;
}

/// What the rule makes of every scene co-located with computing contexts: of its frames, and of what they leave to
/// these.
void compare_scenes(const Choice& best, const std::vector<Scene>& scenes, const DeviceSpec& device, Finding& rule,
                    Finding& left) {
  std::vector<double> shares;
  for (const Scene& scene : scenes) {
    if (scene.computing == 0) continue;
    const FramesAndCompute found = rehearse(scene, best.hypothesis, device);
    const double contexts = static_cast<double>(scene.computing) + 1;
    const double paced = std::max(scene.alone_ns, as_double(scene.period_ns));
    rule.comparisons.push_back(
        {title_of(scene),
         scene.frame_ns,
         found.frame_ns,
         {{"no interference", paced}, {"equal share", std::max(scene.alone_ns * contexts, paced)}}});
    left.comparisons.push_back(
        {title_of(scene),
         scene.computing_share,
         found.computing_share,
         {{"no interference", static_cast<double>(scene.computing)},
          {"equal share", (contexts - 1) / contexts},
          {"the rest of the frames, no switches", std::max(0.01, 1 - scene.alone_ns / scene.frame_ns)}}});
    shares.push_back(scene.computing_share);
    if (scene.trial == "draw_long")
      rule.notes.push_back(fmt::format("a draw of {} kept the spinning context away for {} at a stretch",
                                       text_of(scene.alone_ns, Unit::kNs),
                                       text_of(scene.longest_absence_ns, Unit::kNs)));
  }
  left.value = spread_of(shares);
}

}  // namespace

std::vector<Finding> fit_graphics(const Samples& samples, DeviceSpec& device) {
  const std::vector<Scene> scenes = scenes_of(samples);
  const bool has_shared = std::ranges::any_of(scenes, [](const Scene& scene) { return scene.computing > 0; });
  if (!has_shared) return {};
  std::vector<std::string> notes;
  const Choice best = choose(scenes, device, notes);
  if (best.misfit > 1e9) return {};
  device.graphics = best.hypothesis.rule;
  device.graphics_slice = best.hypothesis.slice;
  Finding rule = rule_finding(best, scenes, std::move(notes));
  Finding left{.title = "what frames leave to computing contexts", .unit = Unit::kRatio, .compared_in = Unit::kRatio};
  left.method = "share of the time in which the spinning contexts ran, together";
  compare_scenes(best, scenes, device, rule, left);
  std::vector<Finding> findings = {rule};
  const bool has_draws = std::ranges::any_of(scenes, [](const Scene& scene) { return scene.draws > 1; });
  if (best.hypothesis.rule == GraphicsScheduling::kToCompletion && has_draws)
    findings.push_back(slice_finding(best, scenes, device));
  findings.push_back(left);
  return findings;
}

}  // namespace corun::calibration
