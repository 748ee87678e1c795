#include <gtest/gtest.h>

#include <set>

#include "experiments/question/clients/client_fields.h"
#include "experiments/run/plan.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::TemporaryFolder;

/// Clients that state between them every key, and one that states no more than it has to.
constexpr char kRichClients[] = R"(
name: rich
device: h200
policies: [passthrough]
clients:
  - name: game
    synthetic: { game: { gpu: 4ms, cv: 0.1, visits: 2 } }
    replay: open
    repeat: 7
    arrival: 250ms
    stay: 3s
    role: best_effort
    pacing: { rate: 50/s, vsync: false }
    queued_ahead: 3
    phase: 0
    host_jitter: 0
    duration_jitter: 5%
    quality: [{ name: HI, cost: 1, quality: 1 }, { name: LO, cost: 0.4, quality: 0.7, switch_cost: 2ms }]
    quality_level: LO
    share: 0.25
    requested_memory: 2GiB
    resizes: [{ at: 1s, share: 0.5 }, { at: 2s, memory: 3GiB }]
    sm_cap: 40%
    working_set: 1GiB
    touch_period: 12ms
    access: random
    allocated: 4GiB
    snapshot: 512MiB
    priority: 9
    qos: { frame_time_p99: "<= 16.7ms" }
  - name: knobs
    synthetic: { game: { gpu: 4ms } }
    host_jitter: 10%
    quality:
      knobs: [{ name: shadows, switch_cost: 1ms, levels: [{ cost: 1, loss: 0 }, { cost: 0.8, loss: 0.05 }] }]
    quality_level: 1
  - name: program
    trace: capture.json
    command: [python3, train.py]
    environment: { CUDA_VISIBLE_DEVICES: "0" }
    working_folder: /programs
    restartable: true
    visits: 4
    draw: 1ms
    keep_start: true
    iterations: 12
    step: { range: train step }
    gpu_busy_ratio: 0.5
    allow_co_run: true
    gpu: 3
    solo_rate: 31.5/s
    pacing: sync_each_job
    count: 2
    every: 1s
  - { name: plain, synthetic: { requests: { rate: 200/s, mean: 1ms } } }
)";

constexpr char kGame[] = R"(arrival_ns=250000000
context=0.4 1073741824 12000000 1
host_jitter=none
jitter=0 0.05
memory=4294967296 536870912
name=game
options=0 0 0
pacing=2 20000000
priority=9
quality=HI:1:1 LO:0.4:0.7:2000000 
quality_level=1
queued_ahead=3
random_phase=false
repeat=7
replay=1
requested_bytes=2147483648
resize.000000=1000000000 0.5 2147483648
resize.000001=2000000000 0.5 3221225472
role=1
share=0.25
solo_rate=0
stay_ns=3000000000
synthetic=game gpu_ns=4000000 cv=0.1 correlation=0 spike=0x1 cpu_ns=0 visits=2 later_ns=0
)";

constexpr char kKnobs[] = R"(arrival_ns=0
context=1 0 0 0
jitter=0.1 0
knob.0000=shadows switch_ns=1000000 1:0 0.8:0.05
memory=0 0
name=knobs
options=0 0 0
pacing=recorded
priority=0
quality=0:1:1 1:0.8:0.9500000000000001 
quality_level=1
queued_ahead=4294967295
random_phase=true
repeat=0
replay=0
role=-1
solo_rate=0
synthetic=game gpu_ns=4000000 cv=0 correlation=0 spike=0x1 cpu_ns=0 visits=1 later_ns=0
)";

constexpr char kProgram[] = R"(allow_co_run=true
arrival_ns=0
command.0000=python3
command.0001=train.py
command.environment.0000=CUDA_VISIBLE_DEVICES=0
command.working_folder=/programs
context=1 0 0 0
draw_ns=1000000
gpu=3
jitter=0 0
keep_start=true
memory=0 0
name=program
options=12 4 0.5
pacing=3 0
priority=0
quality=
quality_level=0
queued_ahead=4294967295
random_phase=true
repeat=0
replay=0
restartable=true
role=-1
solo_rate=31.5
step=2 0 train step
trace=dc7048f8f8747f561349cde127705c16
)";

constexpr char kPlain[] = R"(arrival_ns=0
context=1 0 0 0
jitter=0 0
memory=0 0
name=plain
options=0 0 0
pacing=recorded
priority=0
quality=
quality_level=0
queued_ahead=4294967295
random_phase=true
repeat=0
replay=1
role=-1
solo_rate=0
synthetic=requests arrivals=0 rate=200 service=0 mean_ns=1000000 cv=1
)";

std::vector<std::string> canonical_texts() {
  const TemporaryFolder folder;
  testing::write_text(folder, "capture.json", "{}");
  PolicyRegistry policies;
  add_builtin_policies(policies);
  const Experiment experiment = read_experiment(testing::write_text(folder, "e.yaml", kRichClients), {}, policies);
  const Plan plan = make_plan(experiment);
  std::vector<std::string> texts;
  for (const ClientChoice& client : experiment.scenarios[0].clients)
    texts.push_back(canonical_client(client, plan.hashes));
  return texts;
}

// Results that are kept name their runs by hashes of these texts: a change of one byte parts them from new ones.
TEST(CanonicalClient, TextsOfClientsThatStateEveryKeyStay) {
  const std::vector<std::string> texts = canonical_texts();
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts[0], kGame);
  EXPECT_EQ(texts[1], kKnobs);
  EXPECT_EQ(texts[2], kProgram);
  EXPECT_EQ(texts[4], kPlain);
}

TEST(CanonicalClient, EveryKeyIsWrittenButThoseOfAnother) {
  std::set<std::string_view> unwritten;
  for (const ClientField& field : client_fields())
    if (!field.write) unwritten.insert(field.key);
  EXPECT_EQ(unwritten, (std::set<std::string_view>{"environment", "working_folder", "qos", "accept"}));
}

}  // namespace
}  // namespace corun
