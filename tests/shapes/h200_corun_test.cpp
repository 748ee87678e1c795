#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "experiments/question/device_file.h"
#include "sim/engine/random.h"
#include "sim/solo/solo.h"
#include "sim/workload/synthetic/synthetic.h"
#include "tests/support/replay.h"

// Predictions of what programs did together on one H200, from captures of each alone and its untraced rate. The
// measured side is studies/training-encoder-game; nothing here is fitted to its co-run rows.

namespace corun {
namespace {

using namespace std::chrono_literals;

constexpr int kSeeds = 8;
constexpr Duration kHorizon = 3s;
constexpr Time kFrom = kRunStart + Duration{500ms};
const std::string kSamples = CORUN_SOURCE_DIR "/traces/samples/";
const std::string kStudy = CORUN_SOURCE_DIR "/studies/training-encoder-game/";

/// Measured iterations per second of each program of a row, in file order.
std::multimap<std::string, double> measured_rates() {
  std::multimap<std::string, double> rates;
  std::ifstream file(kStudy + "measured.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto text_after = [&](const std::string& key) {
      return line.substr(line.find("\"" + key + "\": ") + key.size() + 4);
    };
    const std::string run = text_after("run").substr(1, text_after("run").find('"', 1) - 1);
    const std::string workload = text_after("w").substr(1, text_after("w").find('"', 1) - 1);
    rates.emplace(run + "/" + workload, std::stod(text_after("it_s")));
  }
  return rates;
}

/// Measured frames per second of a row's game.
double measured_fps(const std::string& run) {
  std::ifstream file(kStudy + "games.txt");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(run + " ")) return std::stod(line.substr(line.find("fps ") + 4));
  ADD_FAILURE() << "no row " << run;
  return 0;
}

double measured(const std::string& run, const std::string& workload) {
  static const auto rates = measured_rates();
  const auto found = rates.find(run + "/" + workload);
  EXPECT_NE(found, rates.end()) << run;
  return found == rates.end() ? 0.0 : found->second;
}

DeviceSpec h200(Sharing sharing) {
  static const DeviceSpec file = [] {
    std::ifstream in(CORUN_SOURCE_DIR "/experiments/devices/h200.yaml");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return read_device_file(text, "h200.yaml").spec;
  }();
  DeviceSpec spec = file;
  spec.sharing = sharing;
  return spec;
}

ClientSpec program(const std::string& file, const std::string& solo_run, std::uint32_t iterations) {
  ClientSpec spec;
  spec.name = file;
  spec.workload = testing::load_workload(kSamples + file + ".kineto.json.gz",
                                         WorkloadOptions{.iterations = iterations, .step = {}});
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  const SoloFit fit = fit_to_solo_rate(spec, h200(Sharing::kTimeSliced), measured(solo_run, file));
  EXPECT_TRUE(fit.within_reach) << file << " reaches " << fit.reached_per_s;
  fit.apply_to(spec, h200(Sharing::kTimeSliced));
  spec.host_jitter = 0.03;
  spec.random_phase = true;
  return spec;
}

ClientSpec resnet(int number = 1) {
  static const ClientSpec spec = program("resnet50_train_bs64", "solo_resnet50_train_bs64", 0);
  ClientSpec copy = spec;
  copy.name += std::to_string(number);
  return copy;
}

ClientSpec encoder() {
  static const ClientSpec spec = program("encoder_infer_bs1", "solo_encoder_infer_bs1", 20);
  return spec;
}

/// The probe: one draw call, then a tiny second visit, glFinish after each frame.
ClientSpec game(Duration gpu, bool paced) {
  GameProfile profile;
  profile.frame_gpu_mean = gpu;
  profile.visits = 2;
  profile.later_visit = 5us;
  RandomStream unused(1, "probe");
  ClientSpec spec;
  spec.name = "game";
  spec.role = Role::kInteractive;
  spec.workload = std::make_shared<Workload>(make_game(profile, 16'666'667ns, 64, unused));
  spec.pacing.mode = paced ? Pacing::Mode::kLimited : Pacing::Mode::kUncapped;
  spec.pacing.period = paced ? Duration{16'666'667} : Duration{0};
  spec.pacing.queued_ahead = 0;
  spec.random_phase = true;
  return spec;
}

/// Mean rate of each client over the seeds, with the spread printed.
std::vector<double> predict(Sharing sharing, const std::vector<ClientSpec>& clients) {
  std::vector<double> mean(clients.size()), least(clients.size(), 1e18), most(clients.size());
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const testing::Facts facts = testing::run_open(h200(sharing), clients, kHorizon, static_cast<std::uint64_t>(seed));
    for (std::uint32_t c = 0; c < clients.size(); ++c) {
      const double rate = facts.rate(ClientId{c}, kFrom);
      mean[c] += rate / kSeeds;
      least[c] = std::min(least[c], rate);
      most[c] = std::max(most[c], rate);
    }
  }
  for (std::uint32_t c = 0; c < clients.size(); ++c)
    fmt::print("  {:24s} {:8.3f} /s  [{:.3f}, {:.3f}] over {} seeds\n", clients[c].name, mean[c], least[c], most[c],
               kSeeds);
  return mean;
}

void expect_within(double predicted, double measured_value, double tolerance, const char* what) {
  fmt::print("  {:24s} {:8.3f} /s measured, {:+.1f} %\n", what, measured_value, 100 * (predicted / measured_value - 1));
  EXPECT_NEAR(predicted / measured_value, 1.0, tolerance) << what;
}

const char kResnet[] = "resnet50_train_bs64", kEncoder[] = "encoder_infer_bs1";

TEST(H200TimeSliced, TwoTrainingsShareAsMeasured) {
  const auto rates = predict(Sharing::kTimeSliced, {resnet(1), resnet(2)});
  for (const double rate : rates) expect_within(rate, measured("timeslice_1", kResnet), 0.03, kResnet);
}

TEST(H200TimeSliced, AHostBoundEncoderBesideATraining) {
  const auto rates = predict(Sharing::kTimeSliced, {resnet(), encoder()});
  expect_within(rates[0], measured("timeslice_7", kResnet), 0.03, kResnet);
  expect_within(rates[1], measured("timeslice_7", kEncoder), 0.08, kEncoder);
}

TEST(H200TimeSliced, ALightPacedGameBesideATraining) {
  const auto rates = predict(Sharing::kTimeSliced, {resnet(), game(2'245us, true)});
  expect_within(rates[0], measured("game50_resnet50_train_bs64", kResnet), 0.03, kResnet);
  expect_within(rates[1], measured_fps("game50_resnet50_train_bs64"), 0.03, "game");
}

TEST(H200TimeSliced, AHeavyPacedGameBesideATraining) {
  const auto rates = predict(Sharing::kTimeSliced, {resnet(), game(8'850us, true)});
  expect_within(rates[0], measured("game200_resnet50_train_bs64", kResnet), 0.03, kResnet);
  expect_within(rates[1], measured_fps("game200_resnet50_train_bs64"), 0.03, "game");
}

TEST(H200TimeSliced, AnUncappedGameBesideATraining) {
  const auto rates = predict(Sharing::kTimeSliced, {resnet(), game(2'245us, false)});
  expect_within(rates[0], measured("gun50_A", kResnet), 0.03, kResnet);
  expect_within(rates[1], measured_fps("gun50_A"), 0.03, "game");
}

TEST(H200TimeSliced, AnUncappedGameBesideThreeTrainings) {
  const auto rates = predict(Sharing::kTimeSliced, {resnet(1), resnet(2), resnet(3), game(2'245us, false)});
  for (int i = 0; i < 3; ++i)
    expect_within(rates[static_cast<std::size_t>(i)], measured("gun50_AAA", kResnet), 0.03, kResnet);
  expect_within(rates[3], measured_fps("gun50_AAA"), 0.03, "game");
}

TEST(H200Mps, TwoTrainingsShareAsMeasured) {
  const auto rates = predict(Sharing::kConcurrent, {resnet(1), resnet(2)});
  for (const double rate : rates) expect_within(rate, measured("mps_1", kResnet), 0.05, kResnet);
}

TEST(H200Mps, AHostBoundEncoderBesideATraining) {
  const auto rates = predict(Sharing::kConcurrent, {resnet(), encoder()});
  expect_within(rates[0], measured("mps_7", kResnet), 0.15, kResnet);
  expect_within(rates[1], measured("mps_7", kEncoder), 0.15, kEncoder);
}

TEST(H200Solo, UntracedRatesAreMet) {
  expect_within(predict(Sharing::kTimeSliced, {resnet()})[0], measured("solo_resnet50_train_bs64", kResnet), 0.002,
                kResnet);
  expect_within(predict(Sharing::kTimeSliced, {encoder()})[0], measured("solo_encoder_infer_bs1", kEncoder), 0.02,
                kEncoder);
}

}  // namespace
}  // namespace corun
