#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "sim/calibration/calibrate.h"
#include "tests/support/temporary_folder.h"
#include "traces/base/error.h"

namespace corun::calibration {
namespace {

using namespace std::chrono_literals;

/// Probes of a GPU that is not one; see fake_probe.py for its settings.
class Measure : public ::testing::Test {
 protected:
  Measure() { tell(""); }
  ~Measure() override { unsetenv("CORUN_FAKE_PROBE"); }

  void tell(const std::string& words) {
    setenv("CORUN_FAKE_PROBE", ("folder=" + folder_.path().string() + " " + words).c_str(), 1);
  }

  static CalibrateOptions asking(std::vector<std::string> groups) {
    CalibrateOptions options;
    options.probe = CORUN_FAKE_PROBE;
    options.control = "no-such-program";
    options.groups = std::move(groups);
    options.patience = 20s;
    return options;
  }
  Samples measure(std::vector<std::string> groups, Duration patience = 20s) {
    CalibrateOptions options = asking(std::move(groups));
    options.patience = patience;
    return calibration::measure(options);
  }

  static std::vector<std::string> trials_of(const Samples& samples) {
    std::vector<std::string> trials;
    for (const Sample& sample : samples)
      if (trials.empty() || trials.back() != sample.trial) trials.push_back(sample.trial);
    return trials;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Measure, TakesTheGroupsThatAreAskedForAndThePropertiesAlways) {
  EXPECT_EQ(trials_of(measure({"copy"})), (std::vector<std::string>{"device", "copy_alone", "copy_beside"}));
}

TEST_F(Measure, ProbesOfATrialMeasureTogether) {
  const Samples samples = measure({"slice"});
  const auto beside_three = std::ranges::find(samples, "slice_three", &Sample::trial);
  ASSERT_NE(beside_three, samples.end());
  EXPECT_EQ(beside_three->of("gap_length_ns").front(), 2 * 1'500'000 + 3 * 120'000);
  for (std::uint32_t role = 0; role < 3; ++role) {
    EXPECT_EQ(beside_three[role].trial, "slice_three");
    EXPECT_EQ(beside_three[role].role, role);
    EXPECT_EQ(beside_three[role].probe, "spin");
    EXPECT_FALSE(beside_three[role].series.empty()) << role;
  }
}

TEST_F(Measure, ATrialIsRepeatedAsOftenAsItSays) {
  std::vector<std::uint32_t> repetitions;
  for (const Sample& sample : measure({"slice"}))
    if (sample.trial == "slice_two") repetitions.push_back(sample.repetition);
  EXPECT_EQ(repetitions, (std::vector<std::uint32_t>{0, 0, 1, 1}));
}

TEST_F(Measure, BeforeEachTrialItsNumberAndTheTimeThatIsLeftAreTold) {
  std::vector<std::string> told;
  CalibrateOptions options = asking({"copy"});
  options.on_trial = [&](const Trial& trial, std::size_t number, std::size_t count, Duration left) {
    told.push_back(trial.name + " " + std::to_string(number) + "/" + std::to_string(count) + " " +
                   std::to_string(to_ns(left) / 1'000'000) + " ms");
  };
  calibration::measure(options);
  // A process takes 0.9 s to start, a probe that does not say how long it measures 0.7 s.
  EXPECT_EQ(told,
            (std::vector<std::string>{"device 1/3 5700 ms", "copy_alone 2/3 4100 ms", "copy_beside 3/3 2500 ms"}));
}

TEST_F(Measure, AnInterruptEndsItAfterThePresentTrial) {
  CalibrateOptions options = asking({"copy"});
  int asked = 0;
  options.is_interrupted = [&] { return ++asked > 2; };
  EXPECT_EQ(trials_of(calibration::measure(options)), (std::vector<std::string>{"device", "copy_alone"}));
}

TEST_F(Measure, OutputThatIsNoneOfItsBusinessIsPassedOver) {
  tell("chatters");
  const Samples samples = measure({"launch"});
  EXPECT_EQ(samples.back().failure, "");
  EXPECT_EQ(samples.back().first("queue_depth"), 1023);
}

TEST_F(Measure, AProbeThatHangsIsEndedAndTheOthersGoOn) {
  tell("hangs=copy");
  const Samples samples = measure({"copy", "launch"}, 3s);
  EXPECT_EQ(trials_of(samples), (std::vector<std::string>{"device", "copy_alone", "copy_beside", "launch"}));
  EXPECT_NE(samples[1].failure.find("it was not through with measuring after"), std::string::npos)
      << samples[1].failure;
  EXPECT_TRUE(samples[3].series.empty());  // the spinner with a copy that was not there
  EXPECT_EQ(samples.back().first("queue_depth"), 1023);
}

TEST_F(Measure, AProbeThatFailsSaysWhy) {
  tell("fails=launch");
  const Samples samples = measure({"launch"});
  EXPECT_EQ(samples.back().failure, "launching: CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(samples.back().failure_kind, static_cast<int>(ErrorKind::kDevice));
}

TEST_F(Measure, AProbeThatDiesWithoutAWordIsNoticed) {
  tell("dies=launch");
  EXPECT_EQ(measure({"launch"}).back().failure, "signal 9 ended it");
}

TEST_F(Measure, WithoutAGpuNothingElseIsTried) {
  tell("no_gpu");
  try {
    measure({});
    FAIL() << "it measured a GPU that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(error.message().find("no CUDA driver"), std::string::npos);
  }
}

TEST_F(Measure, WithoutMpsItsPartIsLeftOutForThatReason) {
  const Samples samples = measure({"mps"});
  const auto pair = std::ranges::find(samples, "mps_spin", &Sample::trial);
  ASSERT_NE(pair, samples.end());
  EXPECT_NE(pair->failure.find("no-such-program"), std::string::npos) << pair->failure;
  EXPECT_EQ(pair->failure_kind, static_cast<int>(ErrorKind::kUnsupported));
}

}  // namespace
}  // namespace corun::calibration
