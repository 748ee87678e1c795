#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sim/executor/client_commands.h"
#include "sim/executor/worker/channel.h"
#include "tests/sim/executor/execute_fixture.h"

namespace corun::testing {
namespace {

TEST_F(Execute, ClientsDoAllTheirWorkAndLeave) {
  ClientSpec spec = client("a", {2ms, 1ms});
  spec.repeat = 10;
  const Facts facts = run({spec}, 30s);
  EXPECT_EQ(facts.jobs.size(), 10u);
  EXPECT_EQ(result_.jobs_finished[0], 10u);
  EXPECT_LT(result_.end, kRunStart + 30s) << "it ends when everybody has left";
  EXPECT_EQ(report_.device_name, "a fake");
}

TEST_F(Execute, OperationsTakeAtLeastTheirTimeAndStayInOrder) {
  ClientSpec spec = client("a", {3ms, 1ms, 2ms}, false);
  spec.repeat = 5;
  const Facts facts = run({spec}, 30s);
  ASSERT_EQ(facts.ops.size(), 15u);
  const Duration asked[] = {3ms, 1ms, 2ms};
  for (std::size_t i = 0; i < facts.ops.size(); ++i) {
    const OpFact& op = facts.ops[i];
    EXPECT_EQ(op.number, i);
    EXPECT_GE(to_milliseconds(op.device_time), to_milliseconds(asked[i % 3]) * 0.9) << i;
    EXPECT_LE(op.submitted, op.launched);
    EXPECT_LE(op.launched, op.begin);
    EXPECT_LE(op.begin, op.end);
    if (i == 0) continue;
    EXPECT_LE(facts.ops[i - 1].end, op.begin + 2 * report_.clock_error) << "one stream";
  }
}

TEST_F(Execute, HostGapsAreKept) {
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 20;
  spec.host_gap_scale = 50;  // 5 ms before each job
  const Facts facts = run({spec}, 30s);
  ASSERT_EQ(facts.jobs.size(), 20u);
  EXPECT_GE(to_milliseconds(facts.jobs.back().end - facts.jobs.front().begin), 19 * 6.0 * 0.99);
}

TEST_F(Execute, ThePolicyDecidesAsInSimulation) {
  ClientSpec one = client("one", {5ms}), other = client("other", {5ms});
  one.repeat = other.repeat = 10;
  const Facts facts = run({one, other}, 30s, "exclusive");
  ASSERT_EQ(facts.ops.size(), 20u);
  for (const OpFact& a : facts.ops)
    for (const OpFact& b : facts.ops)
      EXPECT_TRUE(a.client == b.client || a.end <= b.begin || b.end <= a.begin) << "one program at a time";
}

TEST_F(Execute, OperationsThatAwaitAnotherStreamBeginAfterIt) {
  ClientSpec spec = client("a", {4ms, 1ms}, false);
  Workload workload = *spec.workload;
  workload.ops.change(1, [](WorkOp& op) { op.stream = StreamId{1}, op.awaits_count = 1; });
  workload.awaits = {0};
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.repeat = 5;
  const Facts facts = run({spec}, 30s);
  ASSERT_EQ(facts.ops.size(), 10u);
  std::vector<Time> ends(10), begins(10);
  for (const OpFact& op : facts.ops) ends[op.number] = op.end, begins[op.number] = op.begin;
  for (std::size_t i = 1; i < 10; i += 2) EXPECT_GE(begins[i] + 2 * report_.clock_error, ends[i - 1]) << i;
}

TEST_F(Execute, CopiesAreCopies) {
  ClientSpec spec = client("a", {1ms});
  Workload workload = *spec.workload;
  workload.ops.change(0, [](WorkOp& op) {
    op.kind = OpKind::kCopyHostToDevice;
    op.bytes = 50'000'000;  // 5 ms on this driver
  });
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.repeat = 4;
  const Facts facts = run({spec}, 30s);
  ASSERT_EQ(facts.ops.size(), 4u);
  for (const OpFact& op : facts.ops) EXPECT_GE(to_milliseconds(op.end - op.launched), 4.9);
}

TEST_F(Execute, CopiesOfUnknownSizeAreCopiesToo) {
  ClientSpec spec = client("a", {1ms});
  Workload workload = *spec.workload;
  workload.ops.change(0, [](WorkOp& op) { op.kind = OpKind::kCopyDeviceToHost; });
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.repeat = 4;
  EXPECT_EQ(run({spec}, 30s).ops.size(), 4u);
}

TEST_F(Execute, CopiesInsideTheDeviceTakeTheirTimeOnItsSms) {
  ClientSpec spec = client("a", {3ms});
  Workload workload = *spec.workload;
  workload.ops.change(0, [](WorkOp& op) { op.kind = OpKind::kCopyDeviceToDevice, op.shape = {}; });
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.repeat = 4;
  const Facts facts = run({spec}, 30s);
  ASSERT_EQ(facts.ops.size(), 4u);
  for (const OpFact& op : facts.ops) EXPECT_NEAR(to_milliseconds(op.device_time), 3.0, 0.3);
}

TEST_F(Execute, ItsOwnLatenessIsReported) {
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 50;
  run({spec}, 30s);
  EXPECT_GE(report_.launches.p50, Duration{0});
  EXPECT_LE(report_.launches.p50, report_.launches.p99);
  EXPECT_LE(report_.timers.p99, report_.timers.worst);
  EXPECT_GE(report_.clock_error, Duration{0});
}

TEST_F(Execute, OperationsShorterThanTheirShapeAreCounted) {
  ClientSpec spec = client("a", {500ns});
  spec.repeat = 3;
  run({spec}, 30s);
  EXPECT_EQ(report_.too_short, 3u);
}

TEST_F(Execute, FramesCanBeKernelsAndItSaysSo) {
  options_.renders = false;
  const Facts facts = run({game(client("game", {2ms}))}, 30s);
  EXPECT_EQ(facts.frames.size(), 10u);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("kernels"), std::string::npos);
}

TEST_F(Execute, AWorkerRendersWhereAllThatItsClientDoesIsRendering) {
  const auto renders = [&](const ClientSpec& spec) { return executor::setup_of(spec, options_, 1).is_graphics; };
  EXPECT_TRUE(renders(game(client("game", {2ms}))));
  EXPECT_FALSE(renders(client("a", {2ms})));
  options_.renders = false;
  EXPECT_FALSE(renders(game(client("game", {2ms}))));
}

// By Mesa on the processor here: what is asked of time is what a slow host keeps too.
TEST_F(Execute, FramesAreRenderedAndPaced) {
  options_.width = options_.height = 64;
  const Facts facts = run({game(client("game", {2ms}))}, 60s);
  ASSERT_EQ(facts.frames.size(), 10u);
  EXPECT_TRUE(report_.notes.empty());
  for (std::size_t i = 1; i < facts.frames.size(); ++i)
    EXPECT_GE(to_milliseconds(facts.frames[i].start - facts.frames[0].start), 20.0 * static_cast<double>(i) * 0.999);
  for (const FrameFact& frame : facts.frames) {
    EXPECT_LE(frame.submit, frame.gpu_begin);
    EXPECT_LT(frame.gpu_begin, frame.gpu_end);
  }
}

// A launch that sleeps looks again at multiples of its retry: a wake-up must come at its own instant, however late.
TEST_F(Execute, PilotfishRunsAFillerBesideFrames) {
  options_.renders = false;
  ClientSpec filler = client("filler", {500us, 500us, 500us, 500us}, false);
  ClientSpec player = game(client("game", {2ms}));
  player.repeat = 0;
  const Facts facts = run({player, filler}, 3s, "pilotfish");
  const auto is_late = [](const OpFact& op) { return op.client.value == 1 && op.end > kRunStart + 1s; };
  EXPECT_GT(std::ranges::count_if(facts.ops, is_late), 50);
}

TEST_F(Execute, AMissingDriverIsSaid) {
  options_.library = "libnosuchcuda.so.1";
  EXPECT_NE(failure({client("a", {1ms})}, ErrorKind::kUnsupported).find("no CUDA driver"), std::string::npos);
}

TEST_F(Execute, AMissingDeviceIsSaid) {
  tell_driver("no_device");
  EXPECT_NE(failure({client("a", {1ms})}, ErrorKind::kUnsupported).find("no device"), std::string::npos);
}

TEST_F(Execute, TooLittleMemoryIsAnErrorOfTheDeviceNamingTheClient) {
  tell_driver("no_memory");
  ClientSpec spec = client("hungry", {1ms});
  spec.allocated_bytes = std::uint64_t{200} << 30;
  const std::string text = failure({spec}, ErrorKind::kDevice);
  EXPECT_NE(text.find("hungry"), std::string::npos) << text;
  EXPECT_NE(text.find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos) << text;
}

TEST_F(Execute, AFailedLaunchEndsTheRun) {
  tell_driver("launch_fails=300");
  const std::string text = failure({client("a", {1ms})}, ErrorKind::kDevice);
  EXPECT_NE(text.find("launching a kernel: CUDA_ERROR_LAUNCH_FAILED"), std::string::npos) << text;
}

TEST_F(Execute, ABrokenContextEndsTheRun) {
  tell_driver("sticky=300");
  EXPECT_NE(failure({client("a", {1ms})}, ErrorKind::kDevice).find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
}

TEST_F(Execute, AnOperationThatDoesNotEndEndsTheRun) {
  tell_driver("hangs=1200");  // what a worker measures takes some 600
  options_.stall_patience = 500ms;
  EXPECT_NE(failure({client("a", {1ms})}, ErrorKind::kDevice).find("has not ended"), std::string::npos);
}

TEST_F(Execute, AWorkerThatDiesEndsTheRun) {
  options_.worker = "/bin/true";
  EXPECT_NE(failure({client("a", {1ms})}, ErrorKind::kDevice).find("died"), std::string::npos);
}

/// State and parent of a process as /proc has them; {'Z', 0} where there is none.
std::pair<char, pid_t> state_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {'Z', 0};
  return {text[name_end + 2], std::stoi(text.substr(name_end + 4))};
}

/// A process that runs and was started by `parent`; empty where there is none.
std::string child_of(pid_t parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const auto [state, its_parent] = state_of(name); state != 'Z' && its_parent == parent) return name;
  }
  return {};
}

TEST_F(Execute, AWorkerDoesNotOutliveItsScheduler) {
  const pid_t scheduler = fork();
  if (scheduler == 0) {
    run({client("a", {1ms})}, 600s);
    _exit(0);
  }
  std::string worker;
  while (worker.empty() && state_of(std::to_string(scheduler)).first != 'Z') worker = child_of(scheduler);
  kill(scheduler, SIGKILL);
  waitpid(scheduler, nullptr, 0);
  ASSERT_FALSE(worker.empty());
  while (state_of(worker).first != 'Z') usleep(1'000);  // for ever is what the test's own time limit is for
}

TEST_F(Execute, AnErrorAfterTheLastCompletionIsSaid) {
  tell_driver("lost_end");
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 2;
  EXPECT_NE(failure({spec}, ErrorKind::kDevice).find("waiting for the last operations"), std::string::npos);
}

TEST_F(Execute, LaunchesThatReturnAfterTheirKernelAreMeasured) {
  tell_driver("late_return=3000");
  ClientSpec spec = client("a", {100us});
  spec.repeat = 3;
  run({spec}, 30s);
  EXPECT_GE(report_.launches.p50, 3ms);
}

TEST_F(Execute, ADriftingClockOfTheDeviceIsFollowed) {
  tell_driver("fast_clock=10000");  // 1 %
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 300;
  const Facts facts = run({spec}, 60s);
  ASSERT_EQ(facts.ops.size(), 300u);
  Time before = kRunStart;
  for (const OpFact& op : facts.ops) {
    EXPECT_LE(before, op.submitted) << "its host had waited for the one before";
    EXPECT_LE(op.launched, op.begin) << op.number;
    EXPECT_NEAR(to_milliseconds(op.end - op.begin), 1.0, 0.1) << op.number;
    EXPECT_NEAR(to_milliseconds(op.device_time), 1.0, 0.1) << op.number;
    before = op.end;
  }
}

/// What is submitted whether or not the device keeps up: more than its ring holds.
TEST_F(Execute, OpenReplayMayRunFarAhead) {
  std::vector<Duration> durations(executor::Channel::kDepth + 500, 1us);
  durations.front() = 20ms;
  Workload workload;
  workload.names = {"kernel"};
  append_job(workload, durations, 0ns, 0ns, false);
  ClientSpec spec = client("a", {1ms});
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.replay = Replay::kOpen;
  spec.repeat = 1;
  EXPECT_EQ(run({spec}, 60s).ops.size(), durations.size());
}

/// Records where the scheduling thread may run while it runs.
class Whereabouts : public Recorder {
 public:
  void on_op(const OpFact&) override {
    cpu_set_t set;
    sched_getaffinity(0, sizeof(set), &set);
    processors = CPU_COUNT(&set);
  }
  int processors = 0;
};

TEST_F(Execute, TheSchedulerIsPinnedWhileItRuns) {
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof(before), &before);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  options_.processors = {first};
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 2;
  Whereabouts whereabouts;
  run_into(whereabouts, {spec}, 30s);
  EXPECT_EQ(whereabouts.processors, 1);
  sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

/// A host that is often away.
class Sleepy : public Facts {
 public:
  void on_op(const OpFact& op) override {
    Facts::on_op(op);
    if (ops.size() % 16 == 0) usleep(20'000);
  }
};

TEST_F(Execute, EveryPolicyStandsALateClockOrNeedsWhatHardwareLacks) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  ClientSpec trainer = client("trainer", {300us, 200us, 100us}, false), server = client("server", {500us});
  server.priority = 1;
  ClientSpec player = game(client("player", {2ms}));
  player.arrival = 20ms;
  options_.renders = false;
  tell_driver("hurry");
  trainer.repeat = server.repeat = 0, player.repeat = 0;
  std::vector<std::string> refused;
  for (const PolicyDescriptor& descriptor : registry.all()) {
    if (!descriptor.create) continue;  // it places pods
    Sleepy facts;
    try {
      run_into(facts, {trainer, server, player}, 150ms, descriptor.name);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << descriptor.name << ": " << error.what();
      refused.push_back(descriptor.name);
    }
  }
  std::ranges::sort(refused);
  EXPECT_EQ(refused, (std::vector<std::string>{"gpreempt", "mig"}));
}

}  // namespace
}  // namespace corun::testing
