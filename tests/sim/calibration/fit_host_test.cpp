#include <gtest/gtest.h>

#include <algorithm>

#include "sim/calibration/fits/fit.h"

namespace corun::calibration {
namespace {

Sample host_sample(const std::string& trial, std::uint32_t role, std::map<std::string, Series> series) {
  Sample made;
  made.trial = trial;
  made.role = role;
  made.probe = trial;
  made.series = std::move(series);
  return made;
}

const Finding& finding_titled(const std::vector<Finding>& findings, const std::string& title) {
  const auto found = std::ranges::find(findings, title, &Finding::title);
  if (found == findings.end()) throw std::runtime_error("no finding " + title);
  return *found;
}

std::vector<Finding> host_findings(const Samples& samples) {
  DeviceSpec device;
  return fit_host(samples, device);
}

TEST(FitHost, BandwidthsAreBytesOverTimeInEachDirection) {
  const std::vector<Finding> found =
      host_findings({host_sample("copy_alone", 0,
                                 {{"bytes", {1'000'000}},
                                  {"to_device_ns", {20'000, 25'000, 50'000}},
                                  {"from_device_ns", {40'000}},
                                  {"both_ns", {100'000}}}),
                     host_sample("copy_beside", 0, {{"bytes", {1'000'000}}, {"to_device_ns", {50'000}}}),
                     host_sample("copy_beside", 1, {{"gaps", {7}}})});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].key, "to_device_bandwidth");
  EXPECT_EQ(found[0].title, "to device bandwidth");
  EXPECT_DOUBLE_EQ(found[0].value.value, 40e9);
  EXPECT_EQ(found[0].value.count, 3u);
  EXPECT_EQ(found[0].notes, std::vector<std::string>{"10GB/s while a copy goes the other way"});
  ASSERT_EQ(found[0].comparisons.size(), 1u);
  EXPECT_DOUBLE_EQ(found[0].comparisons[0].measured, 20e9);
  EXPECT_DOUBLE_EQ(found[0].comparisons[0].model, 40e9);
  EXPECT_DOUBLE_EQ(found[0].comparisons[0].nulls[0].second, 20e9);
  EXPECT_EQ(found[1].key, "from_device_bandwidth");
  EXPECT_DOUBLE_EQ(found[1].value.value, 25e9);
  EXPECT_TRUE(found[1].comparisons.empty());
  EXPECT_EQ(found[1].notes.back(), "the kernel of the other context was away 7 times meanwhile");
}

TEST(FitHost, LaunchesGiveTheDepthOfTheQueueAndWhatTheyCost) {
  const std::vector<Finding> found = host_findings({host_sample("launch", 0,
                                                                {{"queue_depth", {1'023, 1'024, 1'022}},
                                                                 {"launch_ns", {2'000}},
                                                                 {"kernel_ns", {3'000}},
                                                                 {"round_trip_ns", {9'000}}})});
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].key, "launch_queue_depth");
  EXPECT_EQ(found[0].value.value, 1'023);
  EXPECT_EQ(found[1].value.value, 2'000);
  EXPECT_EQ(found[2].value.value, 3'000);
  EXPECT_EQ(finding_titled(found, "round trip of an empty kernel").value.value, 9'000);
}

TEST(FitHost, AContextsMemoryIsTheGreatestDropOfWhatIsFreeInEachRepetition) {
  Samples samples = {
      host_sample("context", 0, {{"free_bytes", {900, 500, 600}}}),
      host_sample("context", 1, {{"context_create_ns", {30}}, {"made_again_ns", {10, 20}}, {"driver_start_ns", {70}}})};
  for (std::uint32_t role = 0; role < 2; ++role) {
    samples.push_back(samples[role]);
    samples.back().repetition = 1;
  }
  samples[2].series["free_bytes"] = {900, 600};
  const std::vector<Finding> found = host_findings(samples);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].key, "context_memory");
  EXPECT_EQ(found[0].value.value, 350) << "of 400 and 300";
  EXPECT_EQ(found[0].value.count, 2u);
  EXPECT_EQ(found[1].key, "context_create");
  EXPECT_EQ(found[1].value.value, 20);
  EXPECT_EQ(found[1].value.count, 6u);
  EXPECT_EQ(found[2].value.value, 70);
  samples[0].series["free_bytes"] = samples[2].series["free_bytes"] = {900};
  EXPECT_EQ(host_findings(samples)[0].key, "context_create") << "one look shows no drop";
}

TEST(FitHost, ClocksAreOfKernelsThatFillTheDevice) {
  const std::vector<Finding> found = host_findings({host_sample(
      "clock", 0,
      {{"heavy_khz", {1'900'000, 1'800'000, 1'700'000}}, {"light_khz", {1'980'000}}, {"top_khz", {2'000'000}}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].value.value, 1'800'000);
  ASSERT_EQ(found[0].notes.size(), 3u);
  EXPECT_EQ(found[0].notes[0], "1980 MHz with one thread alone");
  EXPECT_EQ(found[0].notes[1], "2000 MHz is the most, says the driver");
  EXPECT_EQ(found[0].notes[2], "1900 MHz in the first kernel, 1700 MHz in the last");
  EXPECT_TRUE(host_findings({host_sample("clock", 0, {{"light_khz", {1'980'000}}})}).empty());
}

TEST(FitHost, RivalsOfAnUrgentKernelsWaitAreAWholeWaveAndTheRestOfTheKernel) {
  const std::vector<Finding> found = host_findings({host_sample("priority", 0,
                                                                {{"equal_wait_ns", {3'500'000}},
                                                                 {"urgent_wait_ns", {60'000, 40'000, 50'000}},
                                                                 {"background_alone_ns", {4'000'000}}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].value.value, 50'000);
  const Comparison& wait = found[0].comparisons.at(0);
  EXPECT_EQ(wait.measured, 50'000);
  EXPECT_EQ(wait.nulls.at(0).second, 100'000);
  EXPECT_EQ(wait.nulls.at(1).second, 3'500'000) << "0.5 ms of 4 ms had passed";
}

TEST(FitProperties, AreWhatTheDriverSaysAndNothingWhereItIsSilent) {
  Sample said =
      host_sample("device", 0, {{"sm_count", {132}}, {"max_threads_per_sm", {2'048}}, {"memory_bytes", {1 << 30}}});
  said.texts["device"] = "H200";
  DeviceSpec device;
  device.max_blocks_per_sm = 5;
  const std::vector<Finding> found = fit_properties({said}, device);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].key, "sm_count");
  EXPECT_EQ(found[0].value.value, 132);
  EXPECT_EQ(found[2].key, "memory");
  for (const Finding& finding : found) EXPECT_TRUE(finding.is_told);
  EXPECT_EQ(device.sm_count, 132u);
  EXPECT_EQ(device.max_threads_per_sm, 2'048u);
  EXPECT_EQ(device.max_blocks_per_sm, 5u);
  EXPECT_EQ(device.name, "H200");
}

}  // namespace
}  // namespace corun::calibration
