#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/prediction.h"
#include "sim/calibration/fits/together.h"

namespace corun::calibration {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMillisecond = 1'000'000;

Sample probe_sample(const std::string& trial, std::uint32_t role, const std::string& probe) {
  Sample made;
  made.trial = trial;
  made.role = role;
  made.probe = probe;
  return made;
}

const Finding* finding_of(const std::vector<Finding>& findings, const std::string& key) {
  const auto found = std::ranges::find(findings, key, &Finding::key);
  return found == findings.end() ? nullptr : &*found;
}

/// A spinner that runs `run` and is away for `away` from `begin` on, so many times (ms).
void add_turns(Sample& spinner, double begin_ms, double run_ms, double away_ms, int times) {
  for (int i = 0; i < times; ++i) {
    const double at_ms = begin_ms + run_ms + i * (run_ms + away_ms);
    spinner.series["gap_begin_ns"].push_back(std::llround(at_ms * kMillisecond));
    spinner.series["gap_length_ns"].push_back(std::llround(away_ms * kMillisecond));
  }
}

TEST(FitSlices, OnlyWhileAllSpinnersRunDoAbsencesCount) {
  Sample longer = probe_sample("slice_two", 0, "spin"), shorter = probe_sample("slice_two", 1, "spin");
  longer.series = {{"begin_ns", {0}}, {"end_ns", {2'000 * kMillisecond}}};
  shorter.series = {{"begin_ns", {400 * kMillisecond}}, {"end_ns", {800 * kMillisecond}}};
  add_turns(longer, 0, 7, 9, 20);
  add_turns(longer, 402, 2, 2.2, 20);
  add_turns(longer, 1'000, 7, 9, 40);
  add_turns(shorter, 400, 2, 2.2, 20);
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices({longer, shorter}, device);
  const Finding* slice = finding_of(found, "time_slice");
  ASSERT_NE(slice, nullptr);
  EXPECT_EQ(slice->value.value, 2e6);
  EXPECT_EQ(slice->value.count, 38u) << "nineteen between the absences of each";
  EXPECT_NEAR(finding_of(found, "switch_cost")->value.value, 100e3, 1);
}

/// Two programs of kernels of 200 us that take turns of `slice` and `cost` (ns).
Samples programs_in_turns(const std::string& trial, double slice_ns, double cost_ns) {
  Samples samples;
  for (std::uint32_t role = 0; role < 2; ++role) {
    Sample& load = samples.emplace_back(probe_sample(trial, role, "load"));
    load.series = {{"alone_ns", {200'000}}, {"blocks", {1'056}}, {"threads", {256}}, {"end_ns", {}}};
    for (double done = 200e3; done < 300e6; done += 200e3) {
      const double turns = std::floor((done - 1) / slice_ns);
      load.series["end_ns"].push_back(
          std::llround((role + 2 * turns) * (slice_ns + cost_ns) + done - turns * slice_ns));
    }
  }
  return samples;
}

Samples two_spinners(double slice_ns, double cost_ns) {
  Samples samples;
  for (std::uint32_t role = 0; role < 2; ++role) {
    Sample& spinner = samples.emplace_back(probe_sample("slice_two", role, "spin"));
    spinner.series = {{"begin_ns", {0}}, {"end_ns", {1'000 * kMillisecond}}};
    add_turns(spinner, role * (slice_ns + cost_ns) * 1e-6, slice_ns * 1e-6, (slice_ns + 2 * cost_ns) * 1e-6, 200);
  }
  return samples;
}

TEST(FitSlices, ATurnOfTwoProgramsIsTwoSlicesAndTwoSwitches) {
  Samples samples = two_spinners(2e6, 100e3);
  std::ranges::move(programs_in_turns("slice_work_add", 2e6, 180e3), std::back_inserter(samples));
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices(samples, device);
  const Finding* cost = finding_of(found, "switch_cost");
  ASSERT_NE(cost, nullptr);
  ASSERT_EQ(cost->notes.size(), 1u);
  EXPECT_TRUE(cost->notes[0].ends_with("between two programs of `add` kernels, 180us of it from turn to turn"))
      << cost->notes[0];
  EXPECT_NEAR(cost->value.value, 180e3, 6e3);
}

TEST(FitSlices, RivalsOfWhatTwoProgramsKeepAreOtherSlicesAndSwitchesForNothing) {
  Samples samples = two_spinners(2e6, 100e3);
  std::ranges::move(programs_in_turns("slice_work_add", 2e6, 180e3), std::back_inserter(samples));
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices(samples, device);
  const Comparison& kept = finding_of(found, "switch_cost")->comparisons.at(0);
  const double cost = finding_of(found, "switch_cost")->value.value;
  ASSERT_EQ(kept.nulls.size(), 3u);
  EXPECT_NEAR(kept.model, 2e6 / (2e6 + cost), 0.01);
  EXPECT_EQ(kept.nulls[0].second, 1.0);
  EXPECT_NEAR(kept.nulls[1].second, 1.024e6 / (1.024e6 + cost), 0.015);
  EXPECT_NEAR(kept.nulls[2].second, 4e6 / (4e6 + cost), 0.01);
  const Comparison& absence = finding_of(found, "time_slice")->comparisons.at(0);
  EXPECT_NEAR(absence.measured, 2.2e6, 1);
  EXPECT_NEAR(absence.model, 2.2e6, 1) << "the other's slice and two switches";
  EXPECT_NEAR(absence.nulls.at(0).second, 1e9, 1);
  EXPECT_NEAR(absence.nulls.at(1).second, 1.224e6, 1);
  EXPECT_NEAR(absence.nulls.at(2).second, 2e6, 1);
}

TEST(FitSlices, TheShareOfEachSpinnerIsNoted) {
  DeviceSpec device;
  const std::vector<Finding> found = fit_slices(two_spinners(2e6, 500e3), device);
  // 200 absences of 3 ms in a second.
  EXPECT_EQ(finding_of(found, "time_slice")->notes,
            std::vector<std::string>{"slice_two: the contexts ran 40.0 %, 40.0 % of their time"});
}

/// Frames of 8 ms that come as often as a model with this many spinners says, with draws of equal length.
Samples drawn_frames(std::int64_t draws, const std::vector<std::int64_t>& computing) {
  Samples samples;
  for (const std::int64_t beside : computing) {
    const std::string trial = "draw_" + std::to_string(draws) + "_beside_" + std::to_string(beside);
    std::vector<Program> programs = {{.kind = OpKind::kRender, .ops = {}}};
    for (std::int64_t i = 0; i < draws; ++i) programs[0].ops.push_back(Duration{8 * kMillisecond / draws});
    for (std::int64_t i = 0; i < beside; ++i) programs.push_back({.ops = {10s}});
    const double frame_ns = 1e9 / predict(DeviceSpec{}, programs, 2s)[0].jobs_per_s;
    Sample& draw = samples.emplace_back(probe_sample(trial, 0, "draw"));
    draw.settings = {{"draws", draws}, {"ahead", 1}};
    draw.series["alone_ns"] = {8 * kMillisecond};
    for (int i = 1; i < 50; ++i) draw.series["end_ns"].push_back(std::llround(i * frame_ns));
    for (std::uint32_t i = 1; i <= beside; ++i) {
      Sample& spinner = samples.emplace_back(probe_sample(trial, i, "spin"));
      spinner.series = {{"begin_ns", {0}},
                        {"end_ns", {1'000 * kMillisecond}},
                        {"gap_begin_ns", {0, 1}},
                        {"gap_length_ns", {700 * kMillisecond, 100 * kMillisecond}}};
    }
  }
  return samples;
}

TEST(FitGraphics, OfFramesOfOneDrawNothingIsSaidOfTurns) {
  DeviceSpec device;
  EXPECT_EQ(finding_of(fit_graphics(drawn_frames(1, {1, 2}), device), "graphics_slice"), nullptr);
  EXPECT_NE(finding_of(fit_graphics(drawn_frames(2, {1, 2}), device), "graphics_slice"), nullptr);
}

TEST(FitGraphics, RivalsAreNoInterferenceAndEqualShares) {
  DeviceSpec device;
  const std::vector<Finding> found = fit_graphics(drawn_frames(1, {1, 2, 3}), device);
  ASSERT_EQ(found.size(), 2u);
  ASSERT_EQ(found[0].comparisons.size(), 3u);
  const std::vector<Comparison>& left = found[1].comparisons;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto computing = static_cast<double>(i + 1);
    EXPECT_EQ(found[0].comparisons[i].nulls.at(0).second, 8e6);
    EXPECT_EQ(found[0].comparisons[i].nulls.at(1).second, 8e6 * (computing + 1));
    EXPECT_NEAR(left[i].measured, 0.2 * computing, 1e-12) << "each ran for a fifth of the time";
    EXPECT_EQ(left[i].nulls.at(0).second, computing);
    EXPECT_DOUBLE_EQ(left[i].nulls.at(1).second, computing / (computing + 1));
    EXPECT_NEAR(left[i].nulls.at(2).second, 1 - 8e6 / found[0].comparisons[i].measured, 1e-12);
  }
  EXPECT_NEAR(found[1].value.value, 0.4, 1e-12);
  EXPECT_TRUE(fit_graphics(drawn_frames(1, {}), device).empty());
}

TEST(FitSpatial, WhatNoTrialMeasuresIsAssumedAsOnAnH200) {
  Samples samples;
  for (std::uint32_t role = 0; role < 2; ++role) {
    Sample& load = samples.emplace_back(probe_sample("mps_part_0", role, "load"));
    load.series = {{"alone_ns", {kMillisecond}}, {"blocks", {66}}, {"threads", {256}}, {"end_ns", {}}};
    for (std::int64_t i = 1; i < 100; ++i) load.series["end_ns"].push_back(i * kMillisecond);
  }
  DeviceSpec device;
  device.sm_count = 132;
  const std::vector<Finding> found = fit_spatial(samples, device);
  const auto expect_told = [&](const char* key, double value) {
    const Finding* told = finding_of(found, key);
    ASSERT_NE(told, nullptr) << key;
    EXPECT_TRUE(told->is_told);
    EXPECT_EQ(told->value.value, value) << key;
    EXPECT_EQ(told->value.low, value) << key;
    EXPECT_EQ(told->value.high, value) << key;
    EXPECT_EQ(told->value.count, 1u) << key;
  };
  expect_told("one_wave_drain", 0.12);
  expect_told("mps_gap_scale", 1.33);
  expect_told("mps_launch_stall", 300);
  EXPECT_EQ(finding_of(found, "carveout_change")->choice, "when_idle");
}

TEST(Together, AreSamplesOfOneRepetitionInTheOrderOfTheirRoles) {
  Samples samples;
  for (const auto& [repetition, role] : {std::pair{1U, 1U}, std::pair{0U, 1U}, std::pair{0U, 0U}, std::pair{1U, 0U}}) {
    Sample& made = samples.emplace_back(probe_sample("t", role, "spin"));
    made.repetition = repetition;
    made.series = {{"begin_ns", {10 * role + repetition}}, {"end_ns", {100 - role}}};
  }
  samples.push_back(probe_sample("other", 0, "spin"));
  std::vector<std::vector<const Sample*>> found = together(samples, "t");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0][0]->first("begin_ns"), 0);
  EXPECT_EQ(found[0][1]->first("begin_ns"), 10);
  EXPECT_EQ(found[1][0]->first("begin_ns"), 1);
  EXPECT_EQ(window_of_spinners(found[0]).from, 10);
  EXPECT_EQ(window_of_spinners(found[0]).to, 99);
  samples[0].series.clear();
  EXPECT_EQ(together(samples, "t").size(), 1u) << "one that failed spoils its repetition";
}

TEST(Together, LoadsOverlapFromTheFirstEndToTheLast) {
  Sample early = probe_sample("t", 0, "load"), late = probe_sample("t", 1, "load");
  early.series["end_ns"] = {1, 5, 9};
  late.series["end_ns"] = {4, 6, 20};
  const std::vector<const Sample*> both{&early, &late};
  EXPECT_EQ(window_of_loads(both, 3).from, 4);
  EXPECT_EQ(window_of_loads(both, 3).to, 9);
  EXPECT_EQ(window_of_loads(both, 4).to, 0) << "too few";
  EXPECT_EQ(ended_in({4, 9}, early), 1) << "the one at 5: the end of the window is not of it";
  EXPECT_EQ(ended_in({4, 9}, late), 2);
}

}  // namespace
}  // namespace corun::calibration
