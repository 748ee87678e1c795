// Captures that other people made, with counts taken from them by other means.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

struct GpuCapture {
  const char* file;
  std::uint64_t kernels, memops, streams;
  std::int64_t span_ns, device_time_ns;
  std::uint64_t launched;  // operations with a launch call in the window
};

class RealGpuCapture : public testing::TestWithParam<GpuCapture> {};

TEST_P(RealGpuCapture, HasTheCountsItsSourceStates) {
  const GpuCapture& expected = GetParam();
  CORUN_NEEDS_SHARED(expected.file);
  const Timeline timeline = load_timeline(shared_file(expected.file));
  const TimelineSummary summary = summarize(timeline);
  EXPECT_EQ(summary.kernels, expected.kernels);
  EXPECT_EQ(summary.memops, expected.memops);
  EXPECT_EQ(summary.streams, expected.streams);
  EXPECT_EQ(summary.span_ns, expected.span_ns);
  const auto add = [](std::int64_t sum, const OpRecord& op) { return sum + op.duration_ns; };
  EXPECT_EQ(std::accumulate(timeline.ops().begin(), timeline.ops().end(), std::int64_t{0}, add),
            expected.device_time_ns);
  EXPECT_LE(summary.busy_ns, std::min(summary.span_ns, expected.device_time_ns)) << "operations may overlap";
  EXPECT_EQ(summary.frames, 0U);
  const auto launched = std::count_if(timeline.ops().begin(), timeline.ops().end(),
                                      [](const OpRecord& op) { return op.call != OpRecord::kNoIndex; });
  EXPECT_EQ(static_cast<std::uint64_t>(launched), expected.launched);
  EXPECT_EQ(skipped(timeline), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Kineto, RealGpuCapture,
    testing::Values(GpuCapture{"h200/encoder_infer_bs1.kineto.json.gz", 2400, 240, 1, 70269625, 9005468, 2640},
                    GpuCapture{"h200/resnet50_train_bs64.kineto.json.gz", 3655, 270, 1, 160619137, 154595811, 3925},
                    GpuCapture{"kineto/hta_alexnet.json.gz", 79, 19, 2, 12920244000, 66203000, 98},
                    GpuCapture{"kineto/hta_cpu_only.json.gz", 0, 0, 0, 0, 0, 0},
                    GpuCapture{"kineto/hta_event_sync_multi_stream.json.gz", 3, 3, 3, 19506000, 372000, 6},
                    GpuCapture{"kineto/hta_legacy_inference_rank1.json.gz", 4, 0, 1, 1629000, 30000, 4},
                    GpuCapture{"kineto/hta_nccl_2rank_rank0.json.gz", 2700, 1074, 2, 660551005, 165185838, 3774},
                    GpuCapture{"kineto/hta_sampled_rank0_of128.json.gz", 1154, 50, 5, 1222847000, 607844000, 1204},
                    GpuCapture{"kineto/hta_sampled_rank1_of128.json.gz", 1104, 50, 5, 1231186000, 667530000, 1154},
                    GpuCapture{"kineto/kineto2021_resnet50_workers0.json.gz", 8772, 324, 1, 996477000, 603558000, 9096},
                    GpuCapture{"kineto/param_linear.json.gz", 8716, 1640, 1, 1008570000, 370983000, 10356},
                    GpuCapture{"kineto/tracelens_h100_bert_small.json.gz", 60, 1, 1, 3907825, 309437, 61},
                    GpuCapture{"kineto/tracelens_h100_qwen1.5_0.5b.json.gz", 1465, 242, 1, 49652832, 45647300, 1198},
                    GpuCapture{"kineto/tracelens_mi300_bert_small.json.gz", 60, 1, 1, 3495976, 390748, 61},
                    GpuCapture{"kineto/tracelens_sglang_decode_graph.json.gz", 555, 3, 2, 473749943, 9778614, 558},
                    GpuCapture{"kineto/tracelens_vllm_piecewise_graph.json.gz", 413, 10, 1, 156466417, 156085905,
                               423}));

INSTANTIATE_TEST_SUITE_P(
    Nsys, RealGpuCapture,
    testing::Values(GpuCapture{"nsys/nsysai_fastvideo_2gpu_a.sqlite.gz", 4010, 1289, 2, 299877006, 541106145, 5268},
                    GpuCapture{"nsys/nsysai_tiny_1gpu.sqlite.gz", 2, 1, 1, 22453059, 5761, 3},
                    GpuCapture{"nsys/pipit_saxpy_mpi_a100.sqlite.gz", 5, 15, 1, 1097327843, 373273080, 20}));

INSTANTIATE_TEST_SUITE_P(Orion, RealGpuCapture,
                         testing::Values(GpuCapture{"orion/bert_2_fwd.csv", 572, 0, 1, 48625298, 48625298, 0},
                                         GpuCapture{"orion/mobilenetv2_4_fwd.csv", 152, 0, 1, 2262977, 2262977, 0},
                                         GpuCapture{"orion/mobilenetv2_64_fb1.csv", 890, 0, 1, 74896890, 74896890, 0},
                                         GpuCapture{"orion/resnet50_32_fb0.csv", 624, 0, 1, 4368, 4368, 0},
                                         GpuCapture{"orion/resnet50_32_fb1.csv", 946, 0, 1, 95277683, 95277683, 0},
                                         GpuCapture{"orion/resnet50_4_fwd.csv", 175, 0, 1, 6498424, 6498424, 0}));

struct GameCapture {
  const char* file;
  std::size_t frames, chains, dropped;
  double mean_interval_ms;  // over all swap chains, to 0.001 ms
  std::size_t with_gpu_busy;
};

class RealGameCapture : public testing::TestWithParam<GameCapture> {};

TEST_P(RealGameCapture, HasTheCountsItsSourceStates) {
  const GameCapture& expected = GetParam();
  CORUN_NEEDS_SHARED(expected.file);
  const Timeline timeline = load_timeline(shared_file(expected.file));
  const auto count = [&](auto holds) {
    return static_cast<std::size_t>(std::count_if(timeline.frames().begin(), timeline.frames().end(), holds));
  };
  EXPECT_EQ(timeline.frames().size(), expected.frames);
  EXPECT_EQ(timeline.swapchains().size(), expected.chains);
  EXPECT_EQ(count([](const FrameRecord& f) { return f.dropped; }), expected.dropped);
  EXPECT_EQ(count([](const FrameRecord& f) { return f.gpu_busy_ns >= 0; }), expected.with_gpu_busy);
  std::int64_t sum_ns = 0;
  for (const FrameRecord& frame : timeline.frames()) sum_ns += frame.interval_ns;
  EXPECT_NEAR(static_cast<double>(sum_ns) / 1e6 / static_cast<double>(expected.frames), expected.mean_interval_ms,
              5e-4);
  EXPECT_EQ(skipped(timeline), 0U);
  EXPECT_TRUE(timeline.fidelity().per_frame);
}

INSTANTIATE_TEST_SUITE_P(
    Games, RealGameCapture,
    testing::Values(GameCapture{"h200/openarena_4k_uncapped.csv", 2319, 1, 0, 7.1738, 2319},
                    GameCapture{"presentmon/capframex_re2_rtx2080ti.csv.gz", 7285, 1, 4236, 3.493, 0},
                    GameCapture{"presentmon/pm1_farcrynewdawn.csv", 1171, 1, 0, 13.028, 0},
                    GameCapture{"presentmon/pm1_farcrynewdawn_missing_timecol.csv", 1171, 1, 0, 13.028, 0},
                    GameCapture{"presentmon/pm1_farcrynewdawn_short4rows.csv", 5, 1, 0, 16.679, 0},
                    GameCapture{"presentmon/pm_gold_case0_v1.csv", 368, 10, 9, 20.635, 368},
                    GameCapture{"presentmon/pm_gold_case0_v3cur.csv", 357, 10, 8, 20.683, 357},
                    GameCapture{"presentmon/pm_gold_case2_v1.csv", 97, 4, 2, 23.555, 97},
                    GameCapture{"presentmon/pm_gold_case2_v3cur.csv", 93, 4, 2, 22.979, 93}));

// The gold files hold one recording in three versions. Version 2 cannot place GPU work that began before its frame did.
TEST(RealGamePairs, Versions2AndCurrentAgreeToTheNanosecond) {
  for (const char* name : {"presentmon/pm_gold_case0_", "presentmon/pm_gold_case2_"}) {
    CORUN_NEEDS_SHARED(std::string{name} + "v2.csv");
    const Timeline old = load_timeline(shared_file(std::string{name} + "v2.csv"));
    const Timeline current = load_timeline(shared_file(std::string{name} + "v3cur.csv"));
    ASSERT_EQ(old.frames().size(), current.frames().size());
    const std::int64_t shift_ns = current.provenance().origin_ns - old.provenance().origin_ns;
    for (std::size_t i = 0; i < old.frames().size(); ++i) {
      const FrameRecord& a = old.frames()[i];
      const FrameRecord& b = current.frames()[i];
      EXPECT_EQ(a.present_ns, b.present_ns + shift_ns) << i;
      EXPECT_EQ(a.dropped, b.dropped) << i;
      EXPECT_EQ(a.gpu_busy_ns, b.gpu_busy_ns) << i;
      const bool is_cut_off = a.gpu_begin_ns == a.present_ns - a.cpu_busy_ns;
      if (is_cut_off || a.gpu_begin_ns < 0) continue;
      EXPECT_EQ(a.gpu_begin_ns, b.gpu_begin_ns + shift_ns) << i;
      EXPECT_EQ(a.gpu_end_ns, b.gpu_end_ns + shift_ns) << i;
    }
  }
}

TEST(RealGamePairs, Versions1AndCurrentPlaceGpuWorkTheSame) {
  for (const char* name : {"presentmon/pm_gold_case0_", "presentmon/pm_gold_case2_"}) {
    CORUN_NEEDS_SHARED(std::string{name} + "v1.csv");
    const Timeline old = load_timeline(shared_file(std::string{name} + "v1.csv"));
    const Timeline current = load_timeline(shared_file(std::string{name} + "v3cur.csv"));
    using Work = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    const auto work_of = [](const Timeline& timeline) {
      std::multiset<Work> work;
      for (const FrameRecord& f : timeline.frames()) {
        if (f.gpu_begin_ns < 0) continue;
        work.insert({f.interval_ns, f.present_ns - f.gpu_begin_ns, f.gpu_end_ns - f.present_ns, f.gpu_busy_ns});
      }
      return work;
    };
    const std::multiset<Work> before = work_of(old), now = work_of(current);
    EXPECT_TRUE(std::includes(before.begin(), before.end(), now.begin(), now.end())) << name;
  }
}

}  // namespace
}  // namespace corun
