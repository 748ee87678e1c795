#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/support/replay.h"

namespace corun {
namespace {

using testing::Facts;

/// A capture's makespan when replayed alone, closed, on a time-sliced device.
class SoloReplay : public ::testing::TestWithParam<const char*> {};

TEST_P(SoloReplay, KeepsTheRecordedSpanWithinOnePercentAndEveryStreamsOrder) {
  const std::string path = std::string(GetParam()).starts_with("traces/")
                               ? std::string(CORUN_SOURCE_DIR "/") + GetParam()
                               : std::string(CORUN_SHARED_DIR "/data/kineto/") + GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  ClientSpec spec;
  spec.name = "solo";
  // One of the captures shows no steps.
  const std::uint32_t iterations = path.find("alexnet") != std::string::npos ? 2 : 0;
  spec.workload = testing::load_workload(path, {.iterations = iterations, .step = {}});
  spec.repeat = 1;
  const Duration recorded = spec.workload->recorded_span;
  const Facts facts = testing::run_open(DeviceSpec{}, {spec}, recorded * 2 + std::chrono::seconds(1));
  ASSERT_EQ(facts.ops.size(), spec.workload->ops.size());
  Time first = kNever, last = kRunStart;
  std::map<std::uint32_t, std::pair<std::uint64_t, Time>> tail;
  for (const OpFact& op : facts.ops) {
    first = std::min(first, op.begin);
    last = std::max(last, op.end);
    auto& [number, end] = tail[op.stream.value];
    EXPECT_GE(op.number, number);
    EXPECT_GE(op.begin, end);
    tail[op.stream.value] = {op.number, op.end};
  }
  EXPECT_NEAR(to_seconds(last - first), to_seconds(recorded), 0.01 * to_seconds(recorded));
  RecordProperty("deviation_percent", std::to_string(100 * (to_seconds(last - first) / to_seconds(recorded) - 1)));
}

INSTANTIATE_TEST_SUITE_P(
    Captures, SoloReplay,
    ::testing::Values("traces/samples/resnet50_train_bs64.kineto.json.gz",
                      "traces/samples/encoder_infer_bs1.kineto.json.gz", "hta_sampled_rank0_of128.json.gz",
                      "hta_sampled_rank1_of128.json.gz", "hta_nccl_2rank_rank0.json.gz",
                      "hta_event_sync_multi_stream.json.gz", "hta_alexnet.json.gz",
                      "hta_legacy_inference_rank1.json.gz", "kineto2021_resnet50_workers0.json.gz",
                      "param_linear.json.gz", "tracelens_h100_bert_small.json.gz",
                      "tracelens_h100_qwen1.5_0.5b.json.gz", "tracelens_mi300_bert_small.json.gz",
                      "tracelens_sglang_decode_graph.json.gz", "tracelens_vllm_piecewise_graph.json.gz"),
    [](const auto& test) {
      std::string name = std::filesystem::path(test.param).filename().string();
      std::replace_if(
          name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace corun
