#include "experiments/identify/identify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/identify/report.h"
#include "policies/builtin.h"
#include "tests/experiments/identify/hidden_gpu.h"

namespace corun::identification {
namespace {

using namespace std::chrono_literals;
using testing::builtin;
using testing::hidden_gpu;
using testing::value_of;

/// Its lone slices roll while more is queued, as it always is in these trials.
DeviceSpec h200() {
  DeviceSpec device = builtin("h200");
  device.lone_slice = LoneSlice::kRolls;
  return device;
}

/// Trials of less time and runs of fewer repetitions than by default, since the sanitizers make each dear.
std::vector<Trial> short_trials(std::initializer_list<std::string_view> names) {
  std::vector<Trial> trials = trial_pool(h200(), 400ms);
  std::erase_if(trials, [&](const Trial& trial) { return std::ranges::find(names, trial.name) == names.end(); });
  return trials;
}

std::vector<Trial> usual_trials() {
  return short_trials({"paced_game_beside_two", "game_beside_three", "heavy_game", "two_games_beside_long", "four_long",
                       "bursts_beside_long"});
}

std::vector<Trial> spatial_trials() {
  return short_trials({"two_halves", "four_quarters", "half_beside_whole", "small_beside_waves", "two_waves"});
}

IdentifyOptions quick() {
  IdentifyOptions options;
  options.most_trials = 5;
  options.repetitions = 2;
  return options;
}

/// With lone slices as in the device file, which halves what there is to simulate.
std::vector<Rule> usual_rules() {
  std::vector<Rule> rules = rules_of_contexts(h200(), true);
  std::erase_if(rules, [](const Rule& rule) { return rule.lone_slice != h200().lone_slice; });
  return rules;
}

Predictions predictions_of_contexts() { return {usual_rules(), h200(), 4}; }

/// Without trailing visits for rivals, which are half of all there is to simulate: RandomDevices has them.
Predictions predictions_of_plain_contexts() {
  std::vector<Rule> rules = usual_rules();
  std::erase_if(rules, [](const Rule& rule) { return rule.has_trailing_visits; });
  return {rules, h200(), 2};
}
Predictions predictions_of_mps() { return {rules_of_mps(h200()), h200(), 2}; }

std::string name_of_best(const Identification& found, const Predictions& predictions) {
  return predictions.rules()[found.best().rule].name();
}

void expect_holds(const Identification& found, std::string_view key, double truth) {
  const FoundValue* value = value_of(found, key);
  ASSERT_NE(value, nullptr) << key;
  EXPECT_LE(value->low, truth) << key;
  EXPECT_GE(value->high, truth) << key;
  EXPECT_NEAR(value->value, truth, 0.3 * truth) << key;
}

void expect_identified(GraphicsScheduling graphics, Duration time_slice, Duration switch_cost) {
  DeviceSpec device = h200();
  device.graphics = graphics;
  device.time_slice = time_slice;
  device.switch_cost = switch_cost;
  Predictions predictions = predictions_of_plain_contexts();
  const Identification found = identify(predictions, usual_trials(), hidden_gpu(device), quick());
  EXPECT_EQ(name_of_best(found, predictions),
            fmt::format("time_sliced, lone slice {}, graphics {}", to_string(device.lone_slice), to_string(graphics)));
  EXPECT_TRUE(found.fits);
  expect_holds(found, "time_slice", static_cast<double>(to_ns(time_slice)));
  expect_holds(found, "switch_cost", static_cast<double>(to_ns(switch_cost)));
}

TEST(Identify, FindsVisitsThatRunToCompletion) {
  expect_identified(GraphicsScheduling::kToCompletion, 2'097'152ns, 175us);
}

TEST(Identify, FindsVisitsThatRunToCompletionAmongShortSlices) {
  expect_identified(GraphicsScheduling::kToCompletion, 900us, 90us);
}

TEST(Identify, FindsSlicedGraphics) { expect_identified(GraphicsScheduling::kSliced, 1'024us, 120us); }

TEST(Identify, FindsGraphicsInLongSlices) { expect_identified(GraphicsScheduling::kSliced, 3'300us, 250us); }

TEST(Identify, FindsGraphicsThatGoFirst) { expect_identified(GraphicsScheduling::kFirst, 1'500us, 140us); }

TEST(Identify, FindsGraphicsThatGoFirstBeforeLongSlices) { expect_identified(GraphicsScheduling::kFirst, 5ms, 200us); }

void expect_lone_slice_identified(LoneSlice lone_slice) {
  DeviceSpec device = h200();
  device.lone_slice = lone_slice;
  Predictions predictions(rules_of_contexts(device, false), device, 2);
  const std::vector<Trial> trials = short_trials({"two_long", "four_long", "two_bursts", "bursts_beside_long"});
  const Identification found = identify(predictions, trials, hidden_gpu(device), quick());
  EXPECT_EQ(predictions.rules()[found.best().rule].lone_slice, lone_slice);
  EXPECT_GE(found.best().probability, 0.99);
}

TEST(Identify, FindsThatTheSliceOfALoneContextRolls) { expect_lone_slice_identified(LoneSlice::kRolls); }

TEST(Identify, FindsThatTheSliceOfALoneContextIsUsedUp) { expect_lone_slice_identified(LoneSlice::kUsedUp); }

void expect_unsliced_identified(Sharing sharing) {
  DeviceSpec device = h200();
  device.sharing = sharing;
  Predictions predictions = predictions_of_contexts();
  const Identification found = identify(predictions, usual_trials(), hidden_gpu(device), quick());
  EXPECT_EQ(predictions.rules()[found.best().rule].sharing, sharing);
  EXPECT_GE(found.best().probability, 0.99);
  EXPECT_GE(found.steps.size(), 3U) << "one trial may be right by accident";
  EXPECT_TRUE(found.fits);
}

TEST(Identify, FindsThatKernelsWaitForOneAnother) { expect_unsliced_identified(Sharing::kExclusive); }

TEST(Identify, FindsThatKernelsRunAtOnce) { expect_unsliced_identified(Sharing::kConcurrent); }

TEST(Identify, FindsHowKernelsShareSpace) {
  for (const auto& [spatial, exponent] :
       {std::pair{SpatialRule::kDispatchOrder, 0.5}, std::pair{SpatialRule::kDispatchOrder, 0.9},
        std::pair{SpatialRule::kMaxMin, 0.7}}) {
    DeviceSpec device = h200();
    device.sharing = Sharing::kConcurrent;
    device.spatial_rule = spatial;
    device.sm_fill_exponent = exponent;
    Predictions predictions = predictions_of_mps();
    const Identification found = identify(predictions, spatial_trials(), hidden_gpu(device), quick());
    EXPECT_EQ(name_of_best(found, predictions), fmt::format("concurrent, spatial {}", to_string(spatial)));
    EXPECT_TRUE(found.fits);
    expect_holds(found, "sm_fill_exponent", exponent);
  }
}

/// Rule and numbers drawn from all that there are; the same for every run of the tests.
class RandomDevices : public ::testing::TestWithParam<int> {};

struct DrawnDevice {
  std::size_t rule = 0;
  double time_slice_ns = 0, switch_cost_ns = 0;
};

DrawnDevice drawn_device(RandomStream& random, std::size_t rules) {
  const auto rule = static_cast<std::size_t>(random.uniform() * static_cast<double>(rules));
  const double slice = 4e5 * std::pow(10.0, random.uniform());
  return {rule, slice, 5e4 * std::pow(6.0, random.uniform())};
}

TEST_P(RandomDevices, AreIdentifiedEveryTime) {
  Predictions predictions = predictions_of_contexts();
  RandomStream random(static_cast<std::uint64_t>(1 + GetParam() / 2), "hidden");
  DrawnDevice drawn = drawn_device(random, predictions.rules().size());
  if (GetParam() % 2 == 1) drawn = drawn_device(random, predictions.rules().size());
  const Rule& rule = predictions.rules()[drawn.rule];
  DeviceSpec device = h200();
  device.sharing = rule.sharing;
  device.graphics = rule.graphics;
  device.time_slice = Duration{std::llround(drawn.time_slice_ns)};
  device.switch_cost = Duration{std::llround(drawn.switch_cost_ns)};
  const Identification found =
      identify(predictions, usual_trials(), hidden_gpu(device, rule.has_trailing_visits), quick());
  const Rule& best = predictions.rules()[found.best().rule];
  const std::string which = fmt::format("{}: slice {:.0f} ns, switch {:.0f} ns, found {}", rule.name(),
                                        drawn.time_slice_ns, drawn.switch_cost_ns, best.name());
  EXPECT_EQ(best.sharing, rule.sharing) << which;
  if (rule.tells_graphics) {
    EXPECT_EQ(best.graphics, rule.graphics) << which;
  }
  EXPECT_TRUE(found.fits) << which << ", off by " << std::ranges::max(found.misfits);
  int held = 0;
  for (const FoundValue& value : found.values) {
    const double truth = value.key == "time_slice" ? drawn.time_slice_ns : drawn.switch_cost_ns;
    const bool is_held = value.low <= truth && truth <= value.high;
    held += is_held ? 1 : 0;
    EXPECT_NEAR(value.value, truth, value.high - value.low) << which << ": " << value.key;
  }
  EXPECT_GE(held, std::ssize(found.values) - 1) << which << ": neither interval of 95 % holds the truth";
}

// Before a change of the rules: Range(0, 50).
INSTANTIATE_TEST_SUITE_P(Hidden, RandomDevices, ::testing::Range(0, 6));

TEST(Identify, SaysThatAGpuFollowsNoneOfItsRules) {
  // Kernels wait for one another as on an exclusive device, frames as on one where graphics goes first.
  DeviceSpec exclusive = h200(), first = exclusive;
  exclusive.sharing = Sharing::kExclusive;
  first.graphics = GraphicsScheduling::kFirst;
  const Observe of_kernels = hidden_gpu(exclusive), of_frames = hidden_gpu(first);
  const auto of_both = [&](const Trial& trial, std::uint64_t seed) {
    Observation kernels = of_kernels(trial, seed);
    const Observation frames = of_frames(trial, seed);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].client == "game" || kernels[i].client == "other") kernels[i] = frames[i];
    return kernels;
  };
  Predictions predictions = predictions_of_plain_contexts();
  const IdentifyOptions options = quick();
  const Identification found = identify(predictions, usual_trials(), of_both, options);
  EXPECT_FALSE(found.fits);
  const std::string sentence = findings(found, predictions, options).front();
  EXPECT_TRUE(sentence.starts_with("The GPU follows none of these rules. Nearest is ")) << sentence;
  EXPECT_TRUE(identified_lines(found, predictions).empty()) << "a device file would say what is not so";
}

TEST(Identify, SaysThatASliceFarOffLiesAtTheEdge) {
  DeviceSpec device = h200();
  device.time_slice = 60ms;
  Predictions predictions = predictions_of_contexts();
  const Identification found =
      identify(predictions, short_trials({"two_long", "longest", "bursts_beside_long"}), hidden_gpu(device), quick());
  const FoundValue* slice = value_of(found, "time_slice");
  EXPECT_TRUE(!found.fits || (slice != nullptr && slice->is_at_edge));
}

TEST(Identify, SaysWhichRulesAreTheSameToEveryTrial) {
  DeviceSpec device = h200();
  Predictions predictions = predictions_of_contexts();
  const IdentifyOptions options = quick();
  const Identification found = identify(predictions, short_trials({"two_long", "four_long", "two_bursts", "longest"}),
                                        hidden_gpu(device), options);
  EXPECT_EQ(standing(found.verdicts).size(), 6U) << "without frames nothing tells how graphics is scheduled";
  const std::string sentence = findings(found, predictions, options).front();
  EXPECT_NE(sentence.find("graphics to_completion; "), std::string::npos) << sentence;
  const std::vector<DeviceLine> lines = identified_lines(found, predictions);
  const auto says = [&](std::string_view key) { return std::ranges::count(lines, key, &DeviceLine::key) > 0; };
  EXPECT_TRUE(says("sharing"));
  EXPECT_TRUE(says("time_slice"));
  EXPECT_FALSE(says("graphics"));
}

std::vector<std::string> trials_run(const Identification& found) {
  std::vector<std::string> names;
  for (const IdentifyStep& step : found.steps) names.push_back(step.run.trial.name);
  return names;
}

TEST(Identify, ChoosesOtherTrialsInOtherSituations) {
  DeviceSpec sliced = h200(), exclusive = sliced;
  sliced.graphics = GraphicsScheduling::kSliced;
  exclusive.sharing = Sharing::kExclusive;
  Predictions predictions = predictions_of_plain_contexts();
  const auto run = [&](const DeviceSpec& device) {
    return trials_run(identify(predictions, usual_trials(), hidden_gpu(device), quick()));
  };
  const std::vector<std::string> first = run(sliced), other = run(exclusive);
  EXPECT_EQ(first, run(sliced)) << "the same observations lead to the same trials";
  EXPECT_NE(first, other);
  EXPECT_EQ(first.front(), other.front()) << "nothing is known before the first";
}

TEST(Identify, StopsWhenItMayRunNoMore) {
  Predictions predictions = predictions_of_contexts();
  IdentifyOptions options = quick();
  options.most_trials = 1;
  const Identification found = identify(predictions, usual_trials(), hidden_gpu(h200()), options);
  EXPECT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.ending, Ending::kMostTrials);
}

}  // namespace
}  // namespace corun::identification
