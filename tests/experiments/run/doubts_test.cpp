#include "experiments/run/clients/doubts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "experiments/run/clients/client_builder.h"
#include "experiments/run/execution_backend.h"
#include "experiments/run/run_inputs.h"
#include "tests/experiments/question/experiment_text.h"
#include "traces/native/native.h"

namespace corun {
namespace {

using testing::TemporaryFolder;

/// A capture of some kernels on `gpus` GPUs of a host with these devices.
void write_capture(const std::string& path, const std::vector<CapturedDevice>& devices, std::uint32_t gpus = 1,
                   const char* kernel = "kernel", std::uint64_t memory_bytes = 0) {
  TimelineBuilder builder;
  for (std::uint32_t i = 0; i < 20; ++i)
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      OpRecord op;
      op.start_ns = 1'000'000 * i + 1'000 * gpu;
      op.duration_ns = 500'000;
      op.name = builder.intern(kernel);
      op.queue = builder.queue({.device = gpu, .context = 1 + gpu, .stream = 7, .process = 1});
      builder.add(op);
    }
  builder.note_memory({.device = 0, .process = 1, .bytes = memory_bytes});
  builder.provenance().devices = devices;
  write_native(std::move(builder).seal(), path, true);
}

const CapturedDevice kH200{.name = "NVIDIA H200", .sm_count = 132};
const CapturedDevice kA100{.name = "NVIDIA A100-SXM4-40GB", .sm_count = 108};
const CapturedDevice kTi{.name = "NVIDIA GeForce RTX 2080 Ti", .sm_count = 68};

/// Checks experiments in a folder with captures.
class Checked : public ::testing::Test {
 protected:
  /// Everything that is wrong, "line: message", and its kind.
  std::vector<std::string> wrong(const std::string& text) {
    PolicyRegistry policies;
    add_builtin_policies(policies);
    const Experiment experiment = read_experiment(testing::write_text(folder_, "e.yaml", text), {}, policies);
    const Plan plan = make_plan(experiment);
    RunInputs inputs(experiment, plan.hashes, policies);
    std::vector<std::string> found;
    try {
      inputs.check();
    } catch (const InvalidInput& invalid) {
      kind_ = invalid.kind();
      helps_.clear();
      for (const Diagnostic& d : invalid.diagnostics()) {
        found.push_back(fmt::format("{}: {}", d.where.line, d.message));
        helps_.push_back(d.help);
      }
    }
    return found;
  }

  static std::string experiment(const std::string& device, const std::string& clients,
                                const std::string& policies = "passthrough") {
    return fmt::format("name: x\nhorizon: 1s\ndevice: {}\nclients:\n{}\npolicies: [{}]\n", device, clients, policies);
  }

  /// Synthetic clients `a`, `b`, ... with these keys.
  static std::string synthetic(const std::vector<std::string>& keys) {
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i)
      text += fmt::format("  - {{ name: {}, synthetic: {{ kernels: {{ duration: 1ms }} }}, {} }}\n",
                          static_cast<char>('a' + i), keys[i]);
    return text;
  }

  TemporaryFolder folder_;
  ErrorKind kind_{};
  std::vector<std::string> helps_;
};

TEST_F(Checked, ACaptureOfAnotherGpuIsRefusedUnlessAccepted) {
  write_capture(folder_ / "a.corun", {kA100});
  EXPECT_EQ(
      wrong(experiment("h100", "  - { name: a, trace: a.corun }")),
      std::vector<std::string>{"5: client `a`: captured on NVIDIA A100-SXM4-40GB (108 SMs), and the device is h100 "
                               "(132 SMs): times of one GPU say little of another"});
  EXPECT_EQ(kind_, ErrorKind::kUnsupported);
  EXPECT_EQ(
      helps_.at(0),
      "did you mean `device: a100_40gb` (`--gpu a100_40gb`)? `accept: [other_gpu]` on the client replays its times as "
      "they are");
  EXPECT_TRUE(wrong(experiment("h100", "  - { name: a, trace: a.corun, accept: [other_gpu] }")).empty());
  EXPECT_TRUE(wrong(experiment("a100_40gb", "  - { name: a, trace: a.corun }")).empty());
  EXPECT_FALSE(wrong(experiment("a100_80gb", "  - { name: a, trace: a.corun }")).empty()) << "another bandwidth";
}

TEST(Doubts, ARateAloneFarBelowThatUnderTheRecorderIsOne) {
  const auto is_doubted = [](const std::string& rate) {
    const std::string trace = std::filesystem::absolute("traces/samples/cnn_train_small.kineto.json.gz");
    const Experiment experiment =
        testing::read_text(fmt::format("name: x\ndevice: h200\nhorizon: 5s\nclients:\n  - {{ name: a, trace: {}, "
                                       "solo_rate: {} }}\npolicies: [passthrough]\n",
                                       trace, rate));
    const FileHashes hashes = make_plan(experiment).hashes;
    ClientBuilder builder(hashes, true);
    const Scenario& scenario = experiment.scenarios[0];
    return std::ranges::any_of(doubts(scenario, scenario.clients[0], builder), [](const std::string& doubt) {
      return doubt.find("a recorder makes no program faster") < doubt.size();
    });
  };
  EXPECT_TRUE(is_doubted("60/s"));
  EXPECT_FALSE(is_doubted("375.69/s")) << "as measured";
}

TEST_F(Checked, OfAHostWithManyGpusTheOneThatWorkedCounts) {
  write_capture(folder_ / "ti.corun", std::vector<CapturedDevice>(8, kTi));
  EXPECT_EQ(wrong(experiment("v100", "  - { name: a, trace: ti.corun }")).size(), 1U);
  write_capture(folder_ / "h200.corun", {kH200, kTi});
  EXPECT_TRUE(wrong(experiment("h200", "  - { name: a, trace: h200.corun }")).empty());
}

TEST_F(Checked, ACaptureOfSeveralGpusAsksWhich) {
  write_capture(folder_ / "two.corun", {kH200, kTi}, 2);
  EXPECT_EQ(
      wrong(experiment("h200", "  - { name: a, trace: two.corun }")).at(0),
      fmt::format("5: client `a`, trace {}: the capture has operations on 2 GPUs, 0 (NVIDIA H200, 20 operations), "
                  "1 (NVIDIA GeForce RTX 2080 Ti, 20 operations), and a client has one",
                  folder_ / "two.corun"));
  EXPECT_EQ(helps_.at(0), "choose one of them: `gpu: 0`");
  EXPECT_TRUE(wrong(experiment("h200", "  - { name: a, trace: two.corun, gpu: 0 }")).empty());
  EXPECT_NE(wrong(experiment("h200", "  - { name: a, trace: two.corun, gpu: 1 }")).at(0).find("2080 Ti"),
            std::string::npos);
  EXPECT_NE(wrong(experiment("h200", "  - { name: a, trace: two.corun, gpu: 2 }")).at(0).find("no operations on GPU 2"),
            std::string::npos);
}

TEST_F(Checked, KernelsThatWaitForOtherGpusAreRefusedUnlessAccepted) {
  write_capture(folder_ / "nccl.corun", {kH200}, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_NE(wrong(experiment("h200", "  - { name: a, trace: nccl.corun }")).at(0).find("100.0 % of its device time"),
            std::string::npos);
  EXPECT_TRUE(wrong(experiment("h200", "  - { name: a, trace: nccl.corun, accept: [collectives] }")).empty());
}

TEST_F(Checked, AllRefusalsComeAtOnce) {
  write_capture(folder_ / "a.corun", {kA100});
  write_capture(folder_ / "two.corun", {kH200, kH200}, 2);
  write_capture(folder_ / "three.corun", {kH200, kH200, kH200}, 3);
  const std::vector<std::string> found =
      wrong(experiment("h200",
                       "  - { name: a, trace: a.corun }\n  - { name: b, trace: two.corun }\n"
                       "  - { name: c, trace: three.corun }"));
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found[i].substr(0, 2), fmt::format("{}:", 5 + i));
}

TEST_F(Checked, ClientsThatDoNotFitIntoTheMemoryAreAnError) {
  EXPECT_EQ(wrong(experiment("h100", synthetic({"allocated: 60GiB", "allocated: 60GiB"}))),
            std::vector<std::string>{"5: clients a (60 GiB), b (60 GiB) and their 2 contexts need 121 GiB of device "
                                     "memory at a time, and h100 has 79.2 GiB"});
  EXPECT_EQ(kind_, ErrorKind::kInput);
  EXPECT_NE(helps_.at(0).find("h100 has no `handover_bandwidth`"), std::string::npos) << helps_.at(0);
  EXPECT_TRUE(wrong(experiment("h100", synthetic({"allocated: 60GiB", "allocated: 18GiB"}))).empty());
  EXPECT_EQ(wrong(experiment("rtx4090", synthetic({"working_set: 40GiB"}))).size(), 1U) << "nothing pages there";
}

TEST_F(Checked, WhatACaptureHeldCountsWhereNothingIsStated) {
  write_capture(folder_ / "large.corun", {kH200}, 1, "kernel", std::uint64_t{80} << 30);
  const std::string two = "  - { name: a, trace: large.corun }\n  - { name: b, trace: large.corun }";
  EXPECT_EQ(wrong(experiment("h200", two)),
            std::vector<std::string>{"5: clients a (80 GiB), b (80 GiB) and their 2 contexts need 161 GiB of device "
                                     "memory at a time, and h200 has 140 GiB"});
  EXPECT_TRUE(wrong(experiment("h200",
                               "  - { name: a, trace: large.corun }\n"
                               "  - { name: b, trace: large.corun, allocated: 40GiB }"))
                  .empty());
}

TEST_F(Checked, WhereTheDevicePagesWorkingSetsMayExceedTheMemory) {
  const std::string device = "{ model: h100, handover_bandwidth: 20GB/s, thrash_bandwidth: 5GB/s }";
  EXPECT_TRUE(wrong(experiment(device, synthetic({"working_set: 60GiB", "working_set: 60GiB"}))).empty());
  EXPECT_EQ(wrong(experiment(device, synthetic({"working_set: 60GiB", "allocated: 100GiB"}))).size(), 1U);
}

TEST_F(Checked, PagingInBlocksNeedsTheCostOfAFault) {
  const std::string sets = synthetic({"working_set: 60GiB", "working_set: 60GiB"});
  ASSERT_FALSE(wrong(experiment("{ model: h100, paging: blocks }", sets)).empty());
  EXPECT_NE(wrong(experiment("{ model: h100, paging: blocks }", sets))
                .at(0)
                .find("h100 pages in blocks, and what a fault costs is not stated"),
            std::string::npos);
  EXPECT_TRUE(wrong(experiment("{ model: h100, paging: blocks, fault_group: 80us }", sets)).empty());
}

TEST_F(Checked, OnlyBlocksKnowTheOrderOfTouches) {
  const std::string set = synthetic({"working_set: 8GiB, access: sawtooth"});
  EXPECT_EQ(wrong(experiment("p100", set)),
            std::vector<std::string>{"5: client `a` has `access: sawtooth`, and p100 does not page in blocks"});
  EXPECT_NE(helps_.at(0).find("paging: blocks"), std::string::npos) << helps_.at(0);
  EXPECT_TRUE(wrong(experiment("{ model: p100, paging: blocks }", set)).empty());
}

TEST_F(Checked, ClientsThatAreThereAtDifferentTimesMayUseTheSameMemory) {
  const std::string first = "allocated: 60GiB, stay: 300ms";
  EXPECT_TRUE(wrong(experiment("h100", synthetic({first, "allocated: 60GiB, arrival: 400ms"}))).empty());
  EXPECT_EQ(wrong(experiment("h100", synthetic({first, "allocated: 60GiB, arrival: 200ms"}))).size(), 1U);
}

TEST_F(Checked, MigNeedsADeviceThatHasIt) {
  for (const char* device : {"v100", "rtx4090", "t4", "l40s"}) {
    const auto found = wrong(experiment(device, synthetic({"share: 1"}), "mig"));
    ASSERT_EQ(found.size(), 1U) << device;
    EXPECT_EQ(found.at(0), fmt::format("7: policy `mig`: {} has no MIG", device));
    EXPECT_NE(helps_.at(0).find("a100_40gb, a100_80gb, h100, h200"), std::string::npos) << helps_.at(0);
  }
}

TEST_F(Checked, InstancesThatDoNotFitTogetherAreAnErrorThatListsThoseThatDo) {
  const std::string two = synthetic({"share: 1", "share: 1"});
  EXPECT_EQ(wrong(experiment("h100", two, "{ mig: { instances: { a: 4, b: 4 } } }")),
            std::vector<std::string>{"8: policy `mig`: instances 4g.40gb + 4g.40gb do not fit together on h100"});
  EXPECT_EQ(helps_.at(0),
            "2 that fit: 4g.40gb + 3g.40gb, 4g.40gb + 2g.20gb, 4g.40gb + 1g.10gb, 3g.40gb + 3g.40gb, "
            "3g.40gb + 2g.20gb, 3g.40gb + 1g.10gb, 2g.20gb + 2g.20gb, 2g.20gb + 1g.10gb, 1g.10gb + 1g.10gb");
  EXPECT_TRUE(wrong(experiment("h100", two, "{ mig: { instances: { a: 4, b: 3 } } }")).empty());
  EXPECT_EQ(wrong(experiment("h100", two, "{ mig: { instances: { a: 5 } } }")).at(0),
            "8: policy `mig`: client `a` asks for 5 compute slices, which no profile of h100 has");
}

TEST_F(Checked, AnInstanceHasTheMemoryOfItsProfile) {
  const std::string one = synthetic({"allocated: 12GiB"});
  EXPECT_EQ(
      wrong(experiment("a100_40gb", one, "{ mig: { instances: { a: 2 } } }")),
      std::vector<std::string>{"7: policy `mig`: client `a` needs 12 GiB and its context 400 MiB, and its instance "
                               "2g.10gb has 9.75 GiB"});
  EXPECT_TRUE(wrong(experiment("a100_40gb", one, "{ mig: { instances: { a: 3 } } }")).empty());
}

TEST_F(Checked, EightClientsOfSevenSlicesHaveNoPlaceTogether) {
  const std::vector<std::string> eight(8, "share: 1");
  EXPECT_EQ(wrong(experiment("h200", synthetic(eight), "mig")).size(), 1U);
  EXPECT_EQ(helps_.at(0), "no 8 instances fit on it");
}

}  // namespace
}  // namespace corun
