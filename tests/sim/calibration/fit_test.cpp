#include "sim/calibration/fits/fit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "sim/calibration/fits/prediction.h"
#include "sim/calibration/fits/report.h"
#include "traces/base/error.h"

namespace corun::calibration {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMs = 1'000'000, kUs = 1'000;

/// A number in [-1, 1], the same in every run.
class Noise {
 public:
  double next() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }

 private:
  std::mt19937_64 engine_{7};
};

Sample sample(const std::string& trial, std::uint32_t role, const std::string& probe) {
  Sample made;
  made.trial = trial;
  made.role = role;
  made.probe = probe;
  return made;
}

/// A spinner among `count`, each with slices and switches of about this length.
Sample spinner(const std::string& trial, std::uint32_t role, std::uint32_t count, double slice_ns, double switch_ns,
               Noise& noise) {
  Sample made = sample(trial, role, "spin");
  const std::int64_t length = 1'000 * kMs;
  made.series = {{"begin_ns", {0}}, {"end_ns", {length}}, {"gap_begin_ns", {}}, {"gap_length_ns", {}}};
  double at = (slice_ns + switch_ns) * role;
  while (at < static_cast<double>(length)) {
    at += slice_ns * (1 + 0.001 * noise.next());
    const double away = (count - 1) * slice_ns + count * switch_ns * (1 + 0.05 * noise.next());
    made.series["gap_begin_ns"].push_back(static_cast<std::int64_t>(at));
    made.series["gap_length_ns"].push_back(static_cast<std::int64_t>(away));
    at += away;
  }
  return made;
}

Samples spinners(double slice_ns, double switch_ns) {
  Noise noise;
  Samples samples;
  for (std::uint32_t role = 0; role < 2; ++role)
    samples.push_back(spinner("slice_two", role, 2, slice_ns, switch_ns, noise));
  for (std::uint32_t role = 0; role < 3; ++role)
    samples.push_back(spinner("slice_three", role, 3, slice_ns, switch_ns, noise));
  return samples;
}

const Finding* find(const std::vector<Finding>& findings, const std::string& key) {
  const auto found = std::ranges::find(findings, key, &Finding::key);
  return found == findings.end() ? nullptr : &*found;
}

/// A client whose kernels end so often, for as long as its trial lasts.
Sample load(const std::string& trial, std::uint32_t role, std::int64_t alone_ns, double rate,
            std::int64_t blocks = 1056) {
  Sample made = sample(trial, role, "load");
  made.series = {{"alone_ns", {alone_ns}}, {"blocks", {blocks}}, {"threads", {256}}, {"end_ns", {}}};
  const double step = static_cast<double>(alone_ns) / rate;
  for (double end = step; end < 600e6; end += step) made.series["end_ns"].push_back(static_cast<std::int64_t>(end));
  return made;
}

TEST(FitSlices, FindsSliceAndSwitchOfAnyDevice) {
  EXPECT_TRUE(rc::check([] {
    const double slice = *rc::gen::inRange<std::int64_t>(300 * kUs, 20 * kMs);
    const double cost = *rc::gen::inRange<std::int64_t>(20 * kUs, 400 * kUs);
    DeviceSpec device;
    const std::vector<Finding> found = fit_slices(spinners(slice, cost), device);
    RC_ASSERT(find(found, "time_slice") != nullptr);
    RC_ASSERT(std::abs(find(found, "time_slice")->value.value / slice - 1) < 0.002);
    RC_ASSERT(std::abs(find(found, "switch_cost")->value.value - cost) < 0.05 * cost + 0.002 * slice);
    RC_ASSERT(to_ns(device.time_slice) == static_cast<std::int64_t>(find(found, "time_slice")->value.value));
  }));
}

TEST(FitSlices, ThreeSpinnersArePredictedFromTwoAndRivalsAreBeaten) {
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices(spinners(2.097e6, 150e3), device);
  const std::vector<ModelError> errors = model_errors(find(found, "time_slice")->comparisons);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_LT(errors[0].worst, 0.01);
  for (std::size_t i = 1; i < errors.size(); ++i) EXPECT_GT(errors[i].mean, 0.1) << errors[i].model;
}

/// A program whose kernels take turns with another one's: none ends while the other has the device.
Sample load_in_turns(const std::string& trial, std::uint32_t role, double period_ns, double slice_ns,
                     double switch_ns) {
  Sample made = sample(trial, role, "load");
  made.series = {{"alone_ns", {200 * kUs}}, {"blocks", {1056}}, {"threads", {256}}, {"end_ns", {}}};
  const double turn = 2 * (slice_ns + switch_ns);
  for (double done = period_ns; done < 300e6; done += period_ns) {
    const double turns = std::floor(done / slice_ns);
    const double at = role * turn / 2 + turns * turn + (done - turns * slice_ns);
    made.series["end_ns"].push_back(static_cast<std::int64_t>(at));
  }
  return made;
}

TEST(FitSlices, TurnsPriceSwitchesBetweenProgramsAndGapsBetweenTheirKernelsAreNoLoss) {
  Samples samples = spinners(2e6, 100e3);
  for (const char* kind : {"compute", "add", "cache"})
    for (std::uint32_t role = 0; role < 2; ++role)
      samples.push_back(load_in_turns(std::string("slice_work_") + kind, role, 213e3, 2e6, 180e3));
  DeviceSpec device;
  const Finding cost = *find(fit_slices(samples, device), "switch_cost");
  EXPECT_NEAR(cost.value.value, 180e3, 8e3);
  EXPECT_EQ(cost.value.count, 3U);
  EXPECT_NEAR(cost.comparisons[0].measured, 2.0 / 2.18, 0.005);
  EXPECT_LT(model_errors(cost.comparisons)[0].worst, 0.01);
}

TEST(FitSlices, WhatThreadsLoseLessThanFullContextsGoesWithThreads) {
  Samples samples = spinners(2e6, 100e3);
  const auto in_turns = [&](const std::string& trial, std::int64_t blocks, double switch_ns) {
    for (std::uint32_t role = 0; role < 2; ++role) {
      samples.push_back(load_in_turns(trial, role, 213e3, 2e6, switch_ns));
      samples.back().series["blocks"] = {blocks};
    }
  };
  in_turns("slice_work_compute", 1056, 160e3);
  in_turns("slice_fill_25", 264, 130e3);
  DeviceSpec device;
  device.sm_count = 132;
  const Finding state = *find(fit_slices(samples, device), "switch_state");
  EXPECT_NEAR(state.value.value, 60.0 / 160, 0.05);
  EXPECT_EQ(device.switch_state, state.value.value);
  ASSERT_EQ(state.comparisons.size(), 1U);
  EXPECT_NEAR(state.comparisons[0].measured, 130e3, 8e3);
  EXPECT_NEAR(state.comparisons[0].model, 130e3, 8e3);  // a quarter of the threads costs half
}

TEST(FitSlices, ProgramsThatTakeNoTurnsSayNothingOfSwitches) {
  Samples samples = spinners(2e6, 100e3);
  for (std::uint32_t role = 0; role < 2; ++role) samples.push_back(load("slice_work_add", role, 200 * kUs, 0.5));
  DeviceSpec device;
  const Finding cost = *find(fit_slices(samples, device), "switch_cost");
  EXPECT_EQ(cost.value.count, 1U);
  EXPECT_TRUE(cost.comparisons.empty());
}

TEST(FitSlices, ProgramsThatLostNothingByTurnsSayNothingOfSwitches) {
  Samples samples = spinners(2e6, 100e3);
  for (const char* kind : {"compute", "add", "cache"})
    for (std::uint32_t role = 0; role < 2; ++role)
      samples.push_back(load_in_turns(std::string("slice_work_") + kind, role, 213e3, 2e6, -1e3));
  DeviceSpec device;
  const Finding cost = *find(fit_slices(samples, device), "switch_cost");
  EXPECT_NEAR(cost.value.value, 100e3, 2e3);
}

TEST(FitSlices, ContextsThatWereNeverAwayAreNotSliced) {
  Samples samples;
  for (std::uint32_t role = 0; role < 2; ++role) {
    samples.push_back(sample("slice_two", role, "spin"));
    samples.back().series = {{"begin_ns", {0}}, {"end_ns", {kMs}}, {"gap_begin_ns", {}}, {"gap_length_ns", {}}};
  }
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices(samples, device);
  EXPECT_EQ(find(found, "time_slice"), nullptr);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].choice, "none seen");
}

TEST(FitSlices, ATrialOfWhichAProbeFailedCountsForNothing) {
  Samples samples = spinners(2e6, 100e3);
  samples[1].series.clear();
  samples[1].failure = "it died";
  DeviceSpec device;
  EXPECT_TRUE(fit_slices(samples, device).empty());
  const Calibration calibration = conclude(samples);
  ASSERT_EQ(calibration.failures.size(), 1U);
  EXPECT_EQ(calibration.failures[0], "slice_two: probe `spin`: it died");
  EXPECT_NE(fit_report(calibration).find("it died"), std::string::npos);
}

TEST(FitSlices, TooFewTurnsForASwitchStillTellTheSlice) {
  Samples samples;
  for (std::uint32_t role = 0; role < 2; ++role) {
    samples.push_back(sample("slice_two", role, "spin"));
    samples.back().series = {{"begin_ns", {0}},
                             {"end_ns", {100 * kMs}},
                             {"gap_begin_ns", {0, 10 * kMs, 40 * kMs}},
                             {"gap_length_ns", {5 * kMs, 5 * kMs, 5 * kMs}}};
  }
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices(samples, device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "time_slice");
  EXPECT_EQ(device.time_slice, 15ms);  // of 5 ms and 25 ms
}

constexpr std::int64_t kSwitch = 120 * kUs, kLinger = 30 * kUs, kSlice = 2 * kMs;

/// Short kernels that wake while a lone spinner runs, 100 of them at all phases of its slices.
Samples wakers(bool is_rolling) {
  Sample spinning = sample("idle_short", 0, "spin"), shorts = sample("idle_short", 1, "short");
  spinning.series = {{"begin_ns", {0}}, {"end_ns", {1'000 * kMs}}};
  shorts.series["alone_ns"] = {20 * kUs};
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t submit = 5 * kMs + i * (8 * kMs + 77 * kUs),
                       begin = submit + (is_rolling ? kSlice * i / 100 : 0) + kSwitch, end = begin + 20 * kUs;
    shorts.series["submit_ns"].push_back(submit);
    shorts.series["begin_ns"].push_back(begin);
    shorts.series["end_ns"].push_back(end);
    spinning.series["gap_begin_ns"].push_back(begin - kSwitch);
    spinning.series["gap_length_ns"].push_back(2 * kSwitch + kLinger + 20 * kUs);
  }
  return {spinning, shorts};
}

TEST(FitIdle, TellsLingerFromSwitchesAndWhatBecomesOfALoneSlice) {
  for (const auto& [is_rolling, name] : {std::pair{true, "rolls"}, std::pair{false, "used_up"}}) {
    DeviceSpec device;
    device.time_slice = Duration{kSlice};
    device.switch_cost = Duration{kSwitch};
    device.lone_slice = is_rolling ? LoneSlice::kUsedUp : LoneSlice::kRolls;
    const std::vector<Finding> found = fit_idle(wakers(is_rolling), device);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_NEAR(found[0].value.value, kLinger, 1);
    EXPECT_EQ(found[1].key, "lone_slice");
    EXPECT_EQ(found[1].choice, name);
    EXPECT_EQ(device.lone_slice, is_rolling ? LoneSlice::kRolls : LoneSlice::kUsedUp);
    const std::vector<ModelError> errors = model_errors(found[1].comparisons);
    EXPECT_LT(errors[0].worst, 0.15);
    for (std::size_t i = 1; i < errors.size(); ++i) {
      const bool says_the_same = errors[i].model == "rolls_while_queued" && !is_rolling;  // nothing was queued
      if (says_the_same) continue;
      EXPECT_GT(errors[i].mean, 0.4) << errors[i].model;
    }
  }
}

/// Short kernels that wake at all phases of two spinners on a device like this.
Samples wakers_beside_two(const DeviceSpec& truth) {
  Program brief{.ops = {Duration{20 * kUs}}};
  for (std::int64_t i = 0; i < 120; ++i) brief.at.push_back(Duration{10 * kMs + i * (16 * kMs + 137 * kUs)});
  const std::vector<double> waits = predict(truth, {{.ops = {10s}}, {.ops = {10s}}, brief}, 2s).back().waits_ns;
  Sample first = sample("idle_two", 0, "spin"), second = sample("idle_two", 1, "spin"),
         shorts = sample("idle_two", 2, "short");
  first.series = second.series = {{"begin_ns", {0}}, {"end_ns", {2'000 * kMs}}};
  shorts.series["alone_ns"] = {20 * kUs};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const std::int64_t submit = brief.at[i].count(), begin = submit + static_cast<std::int64_t>(waits[i]);
    shorts.series["submit_ns"].push_back(submit);
    shorts.series["begin_ns"].push_back(begin);
    shorts.series["end_ns"].push_back(begin + 20 * kUs);
  }
  return {first, second, shorts};
}

TEST(FitIdle, TellsWhoseTurnIsNextBesideTwoBusyContexts) {
  for (const auto& [order, name] :
       {std::pair{TurnOrder::kAsWoken, "as_woken"}, std::pair{TurnOrder::kFixed, "fixed"}}) {
    DeviceSpec truth;
    truth.turn_order = order;
    DeviceSpec device;
    device.turn_order = order == TurnOrder::kFixed ? TurnOrder::kAsWoken : TurnOrder::kFixed;
    const std::vector<Finding> found = fit_idle(wakers_beside_two(truth), device);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].key, "turn_order");
    EXPECT_EQ(found[0].choice, name);
    EXPECT_EQ(device.turn_order, order);
    const std::vector<ModelError> errors = model_errors(found[0].comparisons);
    EXPECT_LT(errors[0].worst, 0.05);
    EXPECT_GT(errors[1].mean, 0.15) << errors[1].model;
  }
}

/// Short kernels that wake at all phases of a queue of kernels on a device like this.
Samples wakers_beside_a_queue(const DeviceSpec& truth) {
  Program brief{.ops = {Duration{20 * kUs}}};
  for (std::int64_t i = 0; i < 120; ++i) brief.at.push_back(Duration{10 * kMs + i * (8 * kMs + 77 * kUs)});
  const std::vector<double> waits = predict(truth, {{.ops = {500us}, .ahead = 3}, brief}, 1s).back().waits_ns;
  Sample queue = load("idle_queue_500us", 0, 500 * kUs, 1.0), shorts = sample("idle_queue_500us", 1, "short");
  queue.series["begin_ns"] = {0};
  queue.series["end_ns"] = {1, 1'000 * kMs};
  shorts.series["alone_ns"] = {20 * kUs};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const std::int64_t submit = brief.at[i].count(), begin = submit + static_cast<std::int64_t>(waits[i]);
    shorts.series["submit_ns"].push_back(submit);
    shorts.series["begin_ns"].push_back(begin);
    shorts.series["end_ns"].push_back(begin + 20 * kUs);
  }
  return {queue, shorts};
}

TEST(FitIdle, AQueueThatRollsBesideASpinnerThatDoesNotIsARuleOfItsOwn) {
  DeviceSpec truth;
  truth.time_slice = Duration{kSlice};
  truth.switch_cost = Duration{kSwitch};
  truth.lone_slice = LoneSlice::kRollsWhileQueued;
  Samples samples = wakers(false);
  std::ranges::move(wakers_beside_a_queue(truth), std::back_inserter(samples));
  DeviceSpec device = truth;
  device.lone_slice = LoneSlice::kUsedUp;
  const std::vector<Finding> found = fit_idle(samples, device);
  const Finding* rule = find(found, "lone_slice");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->choice, "rolls_while_queued");
  EXPECT_EQ(device.lone_slice, LoneSlice::kRollsWhileQueued);
  EXPECT_EQ(rule->comparisons.size(), 6U);
  const std::vector<ModelError> errors = model_errors(rule->comparisons);
  EXPECT_LT(errors[0].worst, 0.15);
  for (std::size_t i = 1; i < errors.size(); ++i) EXPECT_GT(errors[i].mean, 0.2) << errors[i].model;
}

TEST(FitIdle, SpinnersWithoutTheKernelsBesideThemSayNothing) {
  const Samples whole = wakers(true);
  DeviceSpec device;
  EXPECT_TRUE(fit_idle({whole[0]}, device).empty());
}

/// Frames as a device with this rule would show them, in the plan's situations.
Samples frames_on(const DeviceSpec& truth, int extra, bool is_finished = false) {
  Samples samples;
  for (const std::int64_t computing : {1, 2, 3})
    for (const std::int64_t draws : {1, 2, 4}) {
      const std::string trial =
          "draw_" + std::to_string(draws) + (is_finished ? "_finished" : "") + "_beside_" + std::to_string(computing);
      Program frames{.kind = OpKind::kRender};
      for (std::int64_t i = 0; i < draws; ++i) frames.ops.push_back(Duration{8 * kMs / draws});
      for (int i = 0; i < extra; ++i) frames.ops.push_back(1us);
      std::vector<Program> programs = {frames};
      for (std::int64_t i = 0; i < computing; ++i) programs.push_back({.ops = {10s}});
      const std::vector<Progress> progress = predict(truth, programs, 2s);
      Sample draw = sample(trial, 0, "draw");
      draw.settings = {{"draws", draws}, {"ahead", 1}, {"finish", is_finished}};
      draw.series["alone_ns"] = {8 * kMs};
      for (std::int64_t i = 1; i < 50; ++i)
        draw.series["end_ns"].push_back(i * static_cast<std::int64_t>(1e9 / progress[0].jobs_per_s));
      samples.push_back(draw);
      for (std::uint32_t i = 1; i <= computing; ++i) {
        Sample spinning = sample(trial, i, "spin");
        const auto away = static_cast<std::int64_t>((1 - progress[i].device_share) * 1e9);
        spinning.series = {
            {"begin_ns", {0}}, {"end_ns", {1'000 * kMs}}, {"gap_begin_ns", {0}}, {"gap_length_ns", {away}}};
        samples.push_back(spinning);
      }
    }
  return samples;
}

TEST(FitGraphics, FindsTheRuleThatADeviceFollows) {
  for (const auto& [rule, name] :
       {std::pair{GraphicsScheduling::kToCompletion, "to_completion"}, std::pair{GraphicsScheduling::kSliced, "sliced"},
        std::pair{GraphicsScheduling::kFirst, "first"}})
    for (const int extra : {0, 1}) {
      DeviceSpec truth;
      truth.graphics = rule;
      DeviceSpec device;
      const std::vector<Finding> found = fit_graphics(frames_on(truth, extra), device);
      ASSERT_GE(found.size(), 2U);
      EXPECT_EQ(found[0].choice, name) << "with " << extra << " extra visits";
      EXPECT_EQ(device.graphics, rule);
      const std::vector<ModelError> errors = model_errors(found[0].comparisons);
      EXPECT_LT(errors[0].mean, 0.02) << name;
      EXPECT_GT(errors[1].mean, errors[0].mean) << errors[1].model;
    }
}

TEST(FitGraphics, FindsWhereATurnOfQueuedDrawsEnds) {
  for (const auto& [truth_ns, low_ns, high_ns] : {std::tuple{0, 0, 2'000}, std::tuple{1'024, 0, 2'000},
                                                  std::tuple{3'000, 2'000, 4'000}, std::tuple{5'000, 4'000, 6'000}}) {
    DeviceSpec truth, device;
    truth.graphics_slice = Duration{truth_ns * kUs};
    const std::vector<Finding> found = fit_graphics(frames_on(truth, 0), device);
    const Finding* slice = find(found, "graphics_slice");
    ASSERT_NE(slice, nullptr);
    EXPECT_NEAR(slice->value.low, low_ns * kUs, 1);
    EXPECT_NEAR(slice->value.high, high_ns * kUs, 1);
    EXPECT_LT(model_errors(slice->comparisons)[0].worst, 0.02);
    EXPECT_EQ(to_ns(device.graphics_slice), low_ns == 0 ? 0 : (low_ns + high_ns) * kUs / 2);
  }
}

TEST(FitGraphics, FindsVisitsThatOnlyFinishedFramesMake) {
  Samples samples = frames_on(DeviceSpec{}, 0);
  std::ranges::move(frames_on(DeviceSpec{}, 1, true), std::back_inserter(samples));
  DeviceSpec device;
  const Finding rule = fit_graphics(samples, device)[0];
  EXPECT_LT(model_errors(rule.comparisons)[0].worst, 0.02);
  EXPECT_TRUE(std::ranges::any_of(rule.notes, [](const std::string& note) {
    return note.starts_with("0 extra visits a frame are taken, 1 where the program waits");
  }));
}

TEST(FitSmRate, IsTheMeanExponentOfWhatMemoryBinds) {
  Samples samples;
  for (const std::int64_t count : {132, 98, 66, 42, 32, 14}) {
    Sample rates = sample("sm_rate_" + std::to_string(count), 0, "rates");
    rates.series["sm_count"] = {count};
    for (const auto& [kind, exponent] :
         {std::pair{"compute", 0.99}, std::pair{"add", 0.3}, std::pair{"copy", 0.5}, std::pair{"cache", 0.6}})
      rates.series[std::string(kind) + "_ns"] = {
          static_cast<std::int64_t>(1e6 / std::pow(static_cast<double>(count) / 132, exponent))};
    samples.push_back(rates);
  }
  DeviceSpec device;
  const std::vector<Finding> found = fit_sm_rate(samples, device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].value.value, (0.3 + 0.5 + 0.6) / 3, 1e-3);
  EXPECT_NEAR(found[0].value.low, 0.3, 1e-3);
  EXPECT_NEAR(found[0].value.high, 0.6, 1e-3);
  EXPECT_NE(fit_report({device, found, {}, false}).find("`compute` kernels alone: exponent 0.99"), std::string::npos);
}

TEST(FitSmRate, AFewBlocksOnAMultiprocessorHaveAnExponentOfTheirOwn) {
  Sample fills = sample("sm_fill", 0, "fills");
  for (const auto& [kind, exponent] :
       {std::pair{"compute", 0.02}, std::pair{"add", 0.1}, std::pair{"copy", 0.2}, std::pair{"cache", 0.3}})
    for (const int held : {8, 4, 2, 1})
      fills.series[std::string(kind) + "_" + std::to_string(held) + "_ns"] = {
          static_cast<std::int64_t>(1e6 / std::pow(held / 8.0, exponent))};
  DeviceSpec device;
  const std::vector<Finding> found = fit_sm_rate({fills}, device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "sm_fill_exponent");
  EXPECT_NEAR(device.sm_fill_exponent, 0.2, 1e-3);
  EXPECT_NEAR(found[0].value.high, 0.3, 1e-3);
  EXPECT_LT(model_errors(found[0].comparisons)[0].mean, model_errors(found[0].comparisons)[1].mean);
  EXPECT_EQ(device.sm_rate_exponent, DeviceSpec{}.sm_rate_exponent);
}

/// Pairs of clients as a device with this rule would treat them.
Samples pairs_on(DeviceSpec truth) {
  truth.sharing = Sharing::kConcurrent;
  Samples samples;
  const std::pair<std::int64_t, std::int64_t> sides[] = {{528, 528}, {792, 792}, {950, 264}, {792, 528}};
  for (std::size_t i = 0; i < std::size(sides); ++i) {
    const auto [a, b] = sides[i];
    const std::int64_t lengths[] = {1'000 * kUs, i % 2 == 0 ? 1'000 * kUs : 250 * kUs};
    std::vector<Program> programs;
    for (const auto& [blocks, length] : {std::pair{a, lengths[0]}, std::pair{b, lengths[1]}})
      programs.push_back(
          {.ops = {Duration{length}}, .shape = {static_cast<std::uint32_t>(blocks), 1, 1, 256, 1, 1}, .ahead = 3});
    const std::vector<Progress> progress = predict(truth, programs, 1s);
    for (std::uint32_t role = 0; role < 2; ++role)
      samples.push_back(load("mps_part_" + std::to_string(i), role, lengths[role],
                             progress[role].jobs_per_s * static_cast<double>(lengths[role]) / 1e9, role == 0 ? a : b));
  }
  return samples;
}

TEST(FitSpatial, FindsTheRuleThatADeviceFollows) {
  for (const auto& [rule, name] :
       {std::pair{SpatialRule::kDispatchOrder, "dispatch_order"}, std::pair{SpatialRule::kMaxMin, "max_min"}}) {
    DeviceSpec truth;
    truth.sm_count = 132;
    truth.spatial_rule = rule;
    DeviceSpec device = truth;
    device.spatial_rule = SpatialRule::kDispatchOrder;
    const std::vector<Finding> found = fit_spatial(pairs_on(truth), device);
    const Finding* spatial = find(found, "spatial");
    ASSERT_NE(spatial, nullptr);
    EXPECT_EQ(spatial->choice, name);
    ASSERT_NE(find(found, "carveout_change"), nullptr);
    EXPECT_TRUE(find(found, "carveout_change")->is_told);
    EXPECT_LT(model_errors(spatial->comparisons)[0].mean, 0.02);
    EXPECT_GT(model_errors(spatial->comparisons)[1].mean, 0.02);
  }
}

TEST(FitSpatial, KernelsThatShareMultiprocessorsDoNotDecideTheRule) {
  DeviceSpec truth;
  truth.sm_count = 132;
  truth.spatial_rule = SpatialRule::kMaxMin;
  Samples samples = pairs_on(truth);
  for (Sample& sample : samples) sample.settings["fill_percent"] = 50;
  const std::vector<Finding> found = fit_spatial(samples, truth);
  EXPECT_EQ(find(found, "spatial"), nullptr);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "arithmetic of two clients on the same multiprocessors");
  EXPECT_EQ(found[0].comparisons.size(), 8U);
}

TEST(FitSpatial, ATinyKernelIsComparedWithTheDeviceModel) {
  Sample tiny = sample("mps_tiny_beside_traffic", 0, "short"),
         busy = load("mps_tiny_beside_traffic", 1, 200 * kUs, 1.0);
  tiny.series["alone_ns"] = {5 * kUs};
  for (std::int64_t i = 0; i < 200; ++i) {  // it waits for the end of the running kernel, which they meet at all phases
    const std::int64_t submit = kMs + i * (2 * kMs + kUs);
    tiny.series["submit_ns"].push_back(submit);
    tiny.series["begin_ns"].push_back(submit + 200 * kUs - i * kUs);
    tiny.series["end_ns"].push_back(submit + 205 * kUs - i * kUs);
  }
  DeviceSpec device;
  device.sm_count = 132;
  const std::vector<Finding> found = fit_spatial({tiny, busy}, device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "tiny kernel beside_traffic");
  EXPECT_LT(model_errors(found[0].comparisons)[0].mean, 0.2);
  EXPECT_GT(model_errors(found[0].comparisons)[1].mean, 0.5);
}

TEST(FitHost, AnUrgentKernelIsExpectedToWaitForHalfAWave) {
  Sample priority = sample("priority", 0, "priority");
  priority.series = {
      {"equal_wait_ns", {3'500 * kUs}}, {"urgent_wait_ns", {50 * kUs}}, {"background_alone_ns", {4 * kMs}}};
  DeviceSpec device;
  const std::vector<Finding> found = fit_host({priority}, device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].comparisons[0].model, 50e3);
}

TEST(Conclude, RepetitionsMayHaveAnyNumber) {
  Samples samples = spinners(2e6, 100e3);
  const std::size_t findings = conclude(samples).findings.size();
  EXPECT_GT(findings, 0U);
  for (Sample& sample : samples) sample.repetition = UINT32_MAX;
  EXPECT_EQ(conclude(samples).findings.size(), findings);
}

TEST(Conclude, NothingIsConcludedFromNothing) {
  const Calibration calibration = conclude({});
  EXPECT_TRUE(calibration.findings.empty());
  EXPECT_FALSE(calibration.has_gone_wrong);
}

TEST(Values, AreWrittenAsADeviceFileReadsThem) {
  EXPECT_EQ(text_of(2'097'152, Unit::kNs), "2.0972ms");
  EXPECT_EQ(text_of(174'963.4, Unit::kNs), "174.96us");
  EXPECT_EQ(text_of(54.1234e9, Unit::kBytesPerS), "54.12GB/s");
  EXPECT_EQ(text_of(500.0 * (1 << 20), Unit::kBytes), "500MiB");
  EXPECT_EQ(text_of(150'109'880'320.0, Unit::kBytes), "150109880320B");
  EXPECT_EQ(text_of(0.4666666, Unit::kRatio), "0.467");
}

}  // namespace
}  // namespace corun::calibration
