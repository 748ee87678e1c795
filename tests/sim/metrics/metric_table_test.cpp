#include "sim/metrics/metric_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "sim/cluster/cluster_metrics.h"
#include "sim/metrics/collector.h"
#include "sim/metrics/headlines.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Workload> work(JobKind kind) {
  auto workload = std::make_shared<Workload>();
  workload->job_kind = kind;
  workload->jobs.resize(1);
  return workload;
}

ClientSpec server() {
  auto spec = std::make_shared<ServerSpec>();
  spec->limits = {.batching = Batching::kChunked, .max_batch = 4, .chunk = 128, .kv_tokens = 1000, .max_queue = 1};
  spec->level = {.ttft = 2s, .tpot = 1s};
  ClientSpec client;
  client.name = "chat";
  client.workload = work(JobKind::kRequest);
  client.server = std::move(spec);
  return client;
}

/// A run in which everything happens: a game, a game that is turned away, training that is killed, and a server that
/// rejects a request.
std::vector<Metric> figures_of_a_run() {
  RunInput input;
  input.horizon = 10s;
  input.device.power_limit_w = 700;
  for (const char* name : {"game", "late", "train"}) {
    ClientSpec client;
    client.name = name;
    client.role = name == std::string("train") ? Role::kBestEffort : Role::kInteractive;
    client.workload = work(client.role == Role::kInteractive ? JobKind::kFrame : JobKind::kIteration);
    input.clients.push_back(std::move(client));
  }
  input.clients.push_back(server());
  for (ClientSpec& client : input.clients) client.context.power.watts = 100;
  RunResult result;
  result.end = Time(10s);
  result.device_time = {4s, 0s, 3s, 1s};
  result.energy_j = {400, 0, 300, 100};
  result.jobs_finished = {0, 0, 0, 0};
  result.usage = {7s, 1s, 1s};
  Collector collector(input);
  FrameFact frame{};
  OpFact op{};
  for (Duration at = 1s; at < 10s; at += 1s) {
    frame.present = frame.gpu_end = op.end = Time(at);
    collector.on_frame(frame);
    collector.on_op(op);
    collector.on_job({ClientId{2}, 0, Time(at), Time(at), Time(at)});
  }
  collector.on_request({ClientId{3}, 0, Time(1s), Time(2s), Time(3s), 100, 10});
  collector.on_server_step({ClientId{3}, Time(2s), Time(3s), {StepSize::Kind::kDecode, 1, 100}, 1, 1, 110, 1});
  collector.on_refusal({ClientId{1}, Time(1s), {}});
  collector.on_kill({ClientId{2}, Time(5s), 1s, Time(6s)});
  return collector.metrics(result, {{60, 0.5}, {60, 0.1}, {10, 0.9}, {1, 0.1}});
}

/// A cluster of two cards: a pod that finished its client's work, and what it left behind.
std::vector<Metric> figures_of_a_cluster() {
  ClusterResult result;
  PodFact pod;
  pod.state = PodState::kFinished;
  pod.arrival = pod.start = pod.begin = Time(1s);
  pod.end = Time(5s);
  pod.client = "train";
  pod.slowdown = 1.5;
  pod.range = WorkRange{3.9e9, 4.1e9};
  result.pods = {pod};
  result.mix_use = MixUse{1, 10s, 1.05, {}};
  ClusterLevel level{};
  level.stale_configs = 1;
  result.levels = {level};
  result.cards = 2;
  result.end = Time(10s);
  return cluster_metrics(result);
}

std::map<std::string, std::set<std::string>> owners_of(const std::vector<Metric>& metrics) {
  std::map<std::string, std::set<std::string>> owners;
  for (const Metric& metric : metrics)
    owners[metric.name].insert(metric.client == "device" || metric.client == "cluster" ? metric.client : "client");
  return owners;
}

std::set<std::string> owners_by(MetricOwner owner) {
  switch (owner) {
    case MetricOwner::kFrameClient:
    case MetricOwner::kServer:
    case MetricOwner::kClient:
      return {"client"};
    case MetricOwner::kClientAndDevice:
      return {"client", "device"};
    case MetricOwner::kDevice:
      return {"device"};
    case MetricOwner::kCluster:
      return {"cluster"};
    case MetricOwner::kClusterAndClient:
      return {"client", "cluster"};
  }
  return {};
}

TEST(MetricTable, RunsGiveEveryMetricOfTheTableAndNoOther) {
  auto given = owners_of(figures_of_a_run());
  given.merge(owners_of(figures_of_a_cluster()));
  std::map<std::string, std::set<std::string>> listed;
  for (const MetricDescriptor& metric : metric_table()) listed[std::string(metric.name)] = owners_by(metric.owner);
  EXPECT_EQ(given, listed);
}

TEST(MetricTable, FiguresHaveTheUnitOfTheTableWhichTheNameStates) {
  for (const std::vector<Metric>& metrics : {figures_of_a_run(), figures_of_a_cluster()})
    for (const Metric& metric : metrics) EXPECT_EQ(metric.unit, metric_named(metric.name).unit) << metric.name;
  const std::map<std::string, std::string> units = {{"_ms", "ms"}, {"_s", "s"}, {"_ratio", "ratio"}, {"_per_s", "1/s"},
                                                    {"_j", "J"},   {"_w", "W"}, {"_mhz", "MHz"}};
  for (const MetricDescriptor& metric : metric_table()) {
    for (const auto& [ending, unit] : units) {
      const bool is_rate = metric.name.ends_with("_per_s") && ending == "_s";
      const bool is_stated = metric.name.ends_with(ending) && !is_rate;
      EXPECT_TRUE(!is_stated || metric.unit == unit) << metric.name;
    }
  }
}

TEST(MetricTable, OnlyFramesAreOfClientsWithFramesAlone) {
  for (const Metric& metric : figures_of_a_run()) {
    const bool is_of_frames = metric_named(metric.name).owner == MetricOwner::kFrameClient;
    EXPECT_FALSE(is_of_frames && metric.client == "train") << metric.name;
    EXPECT_FALSE(metric_named(metric.name).meaning.empty()) << metric.name;
  }
}

TEST(MetricTable, TimesAndLossesAreBetterSmallAndAnUnknownTimeIsTakenToBe) {
  for (const MetricDescriptor& metric : metric_table()) {
    const bool is_time = metric.unit == "ms" || metric.unit == "s";
    EXPECT_TRUE(!is_time || metric.better == Better::kLess) << metric.name;
  }
  for (const char* loss : {"missed_frame_ratio", "slowdown", "fragmented_ratio", "pods_failed", "kills"})
    EXPECT_TRUE(is_better_small(loss, "")) << loss;
  EXPECT_FALSE(is_better_small("fps_mean", "fps"));
  EXPECT_TRUE(is_better_small("time_of_another_version", "ms"));
  EXPECT_FALSE(is_better_small("rate_of_another_version", "1/s"));
}

TEST(MetricTable, WhatHappensInFewRunsCountsFromZero) {
  std::set<std::string_view> counting;
  for (const MetricDescriptor& metric : metric_table())
    if (metric.counts_from_zero) counting.insert(metric.name);
  EXPECT_EQ(counting, (std::set<std::string_view>{"kills", "lost_ratio", "paging_ratio", "refused", "rejected"}));
  EXPECT_FALSE(counts_from_zero("fps_mean"));
  EXPECT_FALSE(counts_from_zero("figure_of_another_version"));
}

TEST(Headlines, AreMetricsOfTheTableAndColumnsHaveHeadings) {
  for (const headlines::Column& column : headlines::kRun) EXPECT_NE(metric_named(column.metric).heading, "");
  for (const std::string_view metric : headlines::kCluster) EXPECT_NE(metric_named(metric).heading, "") << metric;
  for (const std::string_view metric : headlines::kReport) EXPECT_NE(metric_named(metric).heading, "") << metric;
  for (const auto& names :
       {std::vector<std::string_view>(std::begin(headlines::kSweep), std::end(headlines::kSweep)),
        std::vector<std::string_view>(std::begin(headlines::kCompare), std::end(headlines::kCompare)),
        std::vector<std::string_view>(std::begin(headlines::kDrawn), std::end(headlines::kDrawn)),
        std::vector<std::string_view>(std::begin(headlines::kSummary), std::end(headlines::kSummary))})
    for (const std::string_view name : names) EXPECT_NE(find_metric(name), nullptr) << name;
}

}  // namespace
}  // namespace corun
