// Live runs whose policy takes snapshots and kills: processes end, commands are started again, and what is lost counts
// as lost.
#include <signal.h>

#include <atomic>
#include <sstream>

#include "sim/metrics/collector.h"
#include "tests/sim/live/live_fixture.h"
#include "traces/base/error.h"

namespace corun {
namespace {

/// Opens all gates, and does to its victim what is planned, each once it is due.
class Timetable : public Policy {
 public:
  struct Entry {
    Duration at;
    Action::Kind kind;
  };
  Timetable(std::uint32_t victim, std::vector<Entry> entries) : victim_(victim), entries_(std::move(entries)) {}

  bool kills() const override { return true; }
  /// Of the victim's launches, at a decision between a kill and its return.
  std::uint32_t most_in_flight_while_away() const { return most_in_flight_; }
  void decide(const GpuView& view, Actions& actions) override {
    const ClientView& victim = view.client(victim_);
    if (victim.is_copying) most_in_flight_ = std::max(most_in_flight_, victim.in_flight);
    const bool is_due = next_ < entries_.size() && view.now >= kRunStart + entries_[next_].at;
    for (const ClientView& client : view.clients)
      if (client.is_present && !client.is_copying && !(is_due && client.id == victim_)) actions.open(client.id);
    if (next_ < entries_.size() && !is_due) actions.wake_at(kRunStart + entries_[next_].at);
    if (!is_due || victim.is_copying || !victim.is_present) return;
    if (entries_[next_].kind == Action::Kind::kKill) {
      actions.kill(victim_);
      ++next_;
    } else if (victim.gate_is_open) {
      actions.close(victim_);
    } else if (victim.in_flight == 0) {
      actions.snapshot(victim_);
      ++next_;
    }
  }

 private:
  const ClientId victim_;
  const std::vector<Entry> entries_;
  std::size_t next_ = 0;
  std::uint32_t most_in_flight_ = 0;
};

constexpr auto kKill = Action::Kind::kKill;
constexpr auto kSnapshot = Action::Kind::kSnapshot;

class KillFacts : public LiveFacts {
 public:
  explicit KillFacts(Recorder* also) : also_(also) {}
  void on_kill(const KillFact& kill) override {
    kills.push_back(kill);
    if (also_ != nullptr) also_->on_kill(kill);
  }
  void on_job(const JobFact& job) override {
    LiveFacts::on_job(job);
    if (also_ != nullptr) also_->on_job(job);
  }
  std::vector<KillFact> kills;

 private:
  Recorder* also_;
};

class LiveKill : public LiveShell {
 protected:
  ClientSpec restartable(const std::string& name, const std::string& line, std::uint64_t snapshot_bytes = 0) const {
    ClientSpec spec = shell(name, line);
    spec.command.is_restartable = true;
    spec.snapshot_bytes = snapshot_bytes;
    return spec;
  }

  KillFacts run(std::vector<ClientSpec> clients, Duration horizon, const std::vector<Timetable::Entry>& plan,
                std::uint32_t victim = 0) {
    Timetable policy(victim, plan);
    input_ = RunInput{};
    input_.device.from_device_bytes_per_s = input_.device.to_device_bytes_per_s = 10'000'000'000;
    input_.clients = std::move(clients);
    input_.policy = &policy;
    input_.policy_name = "timetable";
    input_.horizon = horizon;
    Collector collector(input_);
    KillFacts facts(&collector);
    result_ = live::run_live(input_, facts, options_, report_);
    metrics_ = collector.metrics(result_, {});
    most_in_flight_while_away_ = policy.most_in_flight_while_away();
    return facts;
  }

  double metric(const std::string& name, const std::string& owner) const {
    for (const Metric& metric : metrics_)
      if (metric.name == name && metric.client == owner) return metric.value;
    return -1;
  }
  bool notes_say(const std::string& text) const {
    return std::ranges::any_of(report_.notes,
                               [&](const std::string& note) { return note.find(text) != std::string::npos; });
  }
  std::string notes() const { return fmt::format("{}", fmt::join(report_.notes, "\n")); }

  std::vector<Metric> metrics_;
  std::uint32_t most_in_flight_while_away_ = 0;
};

/// Counts its steps and keeps the count as docs/live.md asks programs to. Says where it goes on.
const std::string kSteps =
    "n=$(cat $CORUN_SNAPSHOT 2>/dev/null || echo 0); echo \"from $n.\" >>$OUT; while true; do $APP step 20 1000; "
    "n=$((n+1)); if [ -e $CORUN_SNAPSHOT.wanted ]; then rm $CORUN_SNAPSHOT.wanted; echo $n >$CORUN_SNAPSHOT.new; "
    "mv $CORUN_SNAPSHOT.new $CORUN_SNAPSHOT; fi; done";

std::size_t launched_after(const std::vector<OpFact>& ops, Time when) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ops, [&](const OpFact& op) { return !op.is_lost && op.launched > when; }));
}

TEST_F(LiveKill, AKilledProgramComesBackWhenAllItsProcessesAreGone) {
  const std::string line =
      "for p in $(cat $OUT 2>/dev/null); do kill -0 $p 2>/dev/null && echo left >>$OUT.left; done; echo $$ >>$OUT; "
      "(trap '' TERM; $APP step 0 1000) & echo $! >>$OUT; wait";
  const KillFacts facts = run({restartable("train", line)}, 3s, {{700ms, kKill}, {1800ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 2U);
  for (const KillFact& kill : facts.kills) {
    EXPECT_GT(kill.restored, kill.time);
    EXPECT_LT(kill.restored, kill.time + 1s);
    EXPECT_GT(kill.lost, 100ms);
  }
  EXPECT_EQ(count("train", "\n"), 6U) << "three starts";
  EXPECT_EQ(output("train.left"), "") << "a process outlived its kill";
  EXPECT_GT(launched_after(facts.ops, facts.kills[1].restored), 100U);
  EXPECT_TRUE(notes_say("'train' was killed and came back 2 times")) << notes();
}

TEST_F(LiveKill, NothingPassesBetweenAKillAndTheReturn) {
  const KillFacts facts = run({restartable("train", "sleep 0.3; exec $APP step 0 1000")}, 2s, {{1s, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  const auto& [client, time, lost, restored, since] = facts.kills[0];
  EXPECT_GT(restored, time + 300ms);
  for (const OpFact& op : facts.ops) EXPECT_TRUE(op.is_lost || op.launched < time || op.launched >= restored - 25ms);
  EXPECT_GT(launched_after(facts.ops, restored), 100U);
}

TEST_F(LiveKill, NoDecisionAfterAKillFindsAnythingOfItInFlight) {
  const KillFacts facts =
      run({restartable("train", "exec $APP never_synchronise 0 2000"), shell("other", "exec $APP step 0 200")}, 1500ms,
          {{700ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_EQ(most_in_flight_while_away_, 0U);
  EXPECT_GT(std::ranges::count(facts.of(0), true, &OpFact::is_lost), 0);
}

TEST_F(LiveKill, WithoutSnapshotsAllSinceTheStartIsNoThroughput) {
  const KillFacts facts = run({restartable("train", "$APP step 0 1000 & wait")}, 3s, {{1500ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_EQ(facts.kills[0].since, kRunStart);
  const auto kept =
      std::ranges::count_if(facts.jobs, [&](const JobFact& job) { return job.end > facts.kills[0].time; });
  EXPECT_LT(static_cast<std::size_t>(kept), facts.jobs.size() * 3 / 4);
  EXPECT_NEAR(metric("throughput_per_s", "train") * to_seconds(result_.end - kRunStart), static_cast<double>(kept),
              static_cast<double>(kept) * 0.1 + 25);
  EXPECT_EQ(metric("kills", "train"), 1);
  EXPECT_GT(metric("lost_ratio", "train"), 0.2);
}

TEST_F(LiveKill, AProgramGoesOnFromItsSnapshotAndLosesOnlyWhatCameAfter) {
  const KillFacts facts =
      run({restartable("train", kSteps, 1000)}, 4s, {{1200ms, kSnapshot}, {2000ms, kKill}, {2800ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 2U);
  EXPECT_GE(facts.kills[0].since, kRunStart + 1200ms);
  EXPECT_LT(facts.kills[0].since, kRunStart + 1600ms);
  EXPECT_EQ(facts.kills[1].since, facts.kills[0].time) << "there was no snapshot in between";
  EXPECT_LT(facts.kills[0].lost, 800ms);
  std::istringstream said(output("train"));
  std::vector<int> starts;
  for (std::string word, from; said >> word >> from;) starts.push_back(std::stoi(from));
  ASSERT_EQ(starts.size(), 3U) << output("train");
  EXPECT_EQ(starts[0], 0);
  EXPECT_GT(starts[1], 0);
  EXPECT_EQ(starts[2], starts[1]) << "the snapshot is there for the second kill, too";
  EXPECT_TRUE(notes_say("a snapshot was taken once")) << notes();
}

/// And no launch waits for it meanwhile.
TEST_F(LiveKill, AProgramThatDoesNotSaveWorksOnAndLosesAll) {
  const KillFacts facts = run({restartable("train", "echo $CORUN_SNAPSHOT >>$OUT; exec $APP step 0 1000", 1000)}, 3s,
                              {{700ms, kSnapshot}, {1100ms, kSnapshot}, {1800ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_EQ(facts.kills[0].since, kRunStart);
  EXPECT_GT(facts.kills[0].lost, 700ms);
  const auto between = std::ranges::count_if(
      facts.ops, [](const OpFact& op) { return op.begin > kRunStart + 1200ms && op.end < kRunStart + 1700ms; });
  EXPECT_GT(between, 100);
  EXPECT_TRUE(notes_say("was asked for a snapshot 2 times and saved none")) << notes();
  const std::string path = output("train").substr(0, output("train").find('\n'));
  for (const char* ending : {"", ".wanted", ".new"}) EXPECT_FALSE(std::filesystem::exists(path + ending)) << ending;
}

TEST_F(LiveKill, ASnapshotThatAKillCutsShortIsNotTheStateThatAProgramGoesOnFrom) {
  const std::string line =
      "cat $CORUN_SNAPSHOT $CORUN_SNAPSHOT.new 2>/dev/null >>$OUT; $APP step 100 1000; while [ ! -e "
      "$CORUN_SNAPSHOT.wanted ]; do $APP step 20 1000; done; rm $CORUN_SNAPSHOT.wanted; echo half "
      ">$CORUN_SNAPSHOT.new; "
      "$APP step 0 1000";
  const KillFacts facts = run({restartable("train", line, 1000)}, 3s, {{900ms, kSnapshot}, {1500ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_EQ(facts.kills[0].since, kRunStart);
  EXPECT_NE(facts.kills[0].restored, kNever);
  EXPECT_EQ(output("train"), "");
}

TEST_F(LiveKill, AProgramThatFailsAsItIsStartedAgainLeavesAndTheOthersGoOn) {
  const std::string line = "[ -e $OUT ] && exit 3; touch $OUT; exec $APP step 0 1000";
  const KillFacts facts =
      run({restartable("train", line), shell("other", "exec $APP step 0 1000")}, 2s, {{600ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_EQ(facts.kills[0].restored, kNever);
  EXPECT_TRUE(notes_say("client 'train' ended with exit code 3")) << notes();
  EXPECT_TRUE(notes_say("did not come back")) << notes();
  EXPECT_GT(launched_after(facts.of(1), kRunStart + 1500ms), 100U);
}

/// As a launcher does.
TEST_F(LiveKill, ACommandThatHasEndedAndLeftItsProgramBehindIsStartedAgain) {
  const KillFacts facts = run({restartable("train", "echo start >>$OUT; $APP step 0 1000 &")}, 2s, {{800ms, kKill}});
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_NE(facts.kills[0].restored, kNever);
  EXPECT_EQ(count("train", "start"), 2U);
}

TEST_F(LiveKill, ARunThatIsInterruptedDuringARestartEndsAtOnceAndLeavesNoProcess) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  const std::string line = "echo $$ >>$OUT; [ $(wc -l <$OUT) = 1 ] || exec sleep 60; exec $APP step 0 1000";
  std::jthread interrupter([&] {
    await_output("train", 2, "\n", 20s);
    stop = true;
  });
  const executor::WallClock clock;
  const KillFacts facts = run({restartable("train", line)}, 60s, {{600ms, kKill}});
  EXPECT_LT(clock.elapsed(), 10s);
  ASSERT_EQ(facts.kills.size(), 1U);
  EXPECT_EQ(facts.kills[0].restored, kNever);
  EXPECT_TRUE(notes_say("'train' was killed at 0.6")) << notes();
  std::istringstream processes(output("train"));
  for (pid_t process = 0; processes >> process;) EXPECT_NE(::kill(process, 0), 0) << process << " is left";
}

TEST_F(LiveKill, AGameIsNeverKilledThoughItsFileSaysSo) {
  ClientSpec game = restartable("game", "trap 'echo asked >>$OUT; exit' TERM; $FRAMES 1000 5 & wait");
  game.role = Role::kInteractive;
  Workload frames;
  frames.job_kind = JobKind::kFrame;
  game.workload = std::make_shared<const Workload>(frames);
  EXPECT_THROW(run({game}, 20s, {{600ms, kKill}}), Error);
  EXPECT_EQ(output("game"), "asked\n") << "it was not asked to end";
}

TEST_F(LiveKill, AProgramThatMayNotBeStartedAgainIsNotKilledAndTheErrorNamesTheKey) {
  const ClientSpec train = shell("train", "trap 'echo asked >>$OUT; exit' TERM; $APP step 0 1000 & wait");
  try {
    run({train}, 20s, {{600ms, kKill}});
    FAIL() << "it was killed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("kill client 'train'"), std::string::npos) << error.what();
    EXPECT_NE(error.help().find("`restartable: true`"), std::string::npos) << error.help();
  }
  EXPECT_EQ(output("train"), "asked\n");
}

}  // namespace
}  // namespace corun
