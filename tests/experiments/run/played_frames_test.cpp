#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "experiments/run/clients/client_builder.h"
#include "experiments/run/plan.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

/// The first frame of a game whose draws were sampled, as a backend has it, where its client states that a frame is one
/// draw.
struct FirstFrame {
  std::uint32_t operations = 0;
  Duration device_time{};
};

FirstFrame first_frame(std::string_view backend) {
  const auto capture = std::filesystem::absolute("studies/sessions/captures/large.uncapped.corun");
  Experiment experiment =
      testing::read_text(fmt::format("name: x\ndevice: h200\nhorizon: 1s\npolicies: [passthrough]\nclients:\n"
                                     "  - {{ name: game, trace: '{}', draw: 1s }}\n",
                                     capture.string()));
  Scenario& scenario = experiment.scenarios[0];
  scenario.backend = backend;
  const FileHashes hashes = make_plan(experiment).hashes;
  ClientBuilder builder(hashes, true);
  const auto workload = builder.client(scenario, scenario.clients[0], 1).workload;
  return {workload->jobs[0].op_count, workload->device_time(workload->jobs[0])};
}

TEST(PlayedFrames, OnAGpuAreMadeOfTheirDrawsWhateverIsPredicted) {
  const FirstFrame predicted = first_frame(kSimulation), played = first_frame(kSurrogates);
  EXPECT_LE(predicted.operations, 2U) << "one draw, and a later visit";
  EXPECT_GE(played.operations, 5U);
  EXPECT_EQ(played.device_time, predicted.device_time);
}

}  // namespace
}  // namespace corun
