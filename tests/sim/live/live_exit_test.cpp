// Live runs in which processes go: programs that die, end in odd ways or leave others behind, and a scheduler that is
// killed. No other process is to stand still for it.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "sim/executor/host/wall_clock.h"
#include "sim/live/gate_owner.h"
#include "sim/live/sealed_memory.h"
#include "tests/sim/live/live_fixture.h"
#include "traces/base/error.h"

namespace corun {
namespace {

class LiveExit : public LiveShell {
 protected:
  static inline const std::string kGone = "corun: the scheduler is gone, this program runs on without a gate\n";
  Duration kill_scheduler_of_two(const std::string& b, std::size_t processes) const;
};

TEST_F(LiveExit, AClientThatIsKilledGivesItsLockBack) {
  const ClientSpec killed = shell("a", "timeout -s KILL 0.7 $APP never_synchronise 0 500");
  const LiveFacts facts = run({killed, client("b", {"step", "0", "500"})}, 3s, "nvshare", {{"quantum", "60s"}});
  ASSERT_FALSE(facts.of(1).empty()) << "the other waits for a lock whose holder is dead";
  EXPECT_LT(facts.of(1).front().launched, kRunStart + 1500ms);
  ASSERT_EQ(report_.notes.size(), 1u);
}

TEST_F(LiveExit, WhatAKilledProcessHadInFlightIsGivenUpThoughItsParentDoesNotAskForIt) {
  const LiveFacts facts =
      run({shell("a", "$APP never_synchronise 0 500 & killed=$!; (sleep 0.7; kill -9 $killed) & exec sleep 60")}, 3s);
  EXPECT_GT(std::ranges::count(facts.ops, true, &OpFact::is_lost), 0);
}

TEST_F(LiveExit, AProgramMayExitInASignalHandlerAnywhere) {
  run({client("a", {"exit_in_handler", "0", "100"})}, 4s);
  EXPECT_LT(result_.end, kRunStart + 3s) << "it waits for itself";
  EXPECT_TRUE(report_.notes.empty());
}

TEST_F(LiveExit, AProgramThatStartsItselfAnewIsGatedAgain) {
  const LiveFacts facts = run({client("a", {"start_anew", "50", "100"})}, 20s);
  EXPECT_GE(std::ranges::count(facts.ops, false, &OpFact::is_lost), 50);
  EXPECT_TRUE(report_.notes.empty());
}

TEST_F(LiveExit, WhatACommandHasStartedHasTimeToEndToo) {
  run({shell("a", "$APP step 0 50000 2>$OUT; true")}, 700ms);
  EXPECT_NE(output("a").find("launched"), std::string::npos) << "it was killed as soon as the shell had ended";
}

TEST_F(LiveExit, APreloadOfTheProgramsOwnIsKept) {
  options_.frame_library = "/nonexistent/ours.so";
  ClientSpec game = shell("a", "echo $LD_PRELOAD >$OUT");
  game.role = Role::kInteractive;
  game.command.environment.emplace_back("LD_PRELOAD=/nonexistent/theirs.so");
  run({game}, 5s);
  EXPECT_EQ(output("a"), "/nonexistent/theirs.so:" CORUN_GATE_LIBRARY ":/nonexistent/ours.so\n");
}

/// Kills a client at the first launch that it hears of: a live run does not do that.
class Killer : public Policy {
 public:
  void on_submitted(const GpuView&, ClientId client, const OpView&) override { victim_ = client; }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) actions.open(client.id);
    if (victim_) actions.kill(*victim_);
  }

 private:
  std::optional<ClientId> victim_;
};

/// A game that is killed in the middle of a frame can spoil the GPU for those after it.
TEST_F(LiveExit, ProgramsOfARunThatFailsAreAskedToEnd) {
  Killer policy;
  RunInput input;
  input.clients = {shell("a", "trap 'echo asked >$OUT; exit' TERM; $APP step 100000 100; sleep 30 & wait")};
  input.policy = &policy;
  input.policy_name = "killer";
  input.horizon = 20s;
  LiveFacts facts;
  EXPECT_THROW(live::run_live(input, facts, options_, report_), Error);
  EXPECT_EQ(output("a"), "asked\n");
}

/// Refuses the first client that launches anything, as admission does.
class Refuser : public Policy {
 public:
  void on_submitted(const GpuView&, ClientId client, const OpView&) override {
    if (!refused_) refused_ = client;
  }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
    if (!refused_ || is_done_) return;
    is_done_ = true;
    actions.close(*refused_);
    actions.refuse(*refused_);
  }

 private:
  std::optional<ClientId> refused_;
  bool is_done_ = false;
};

TEST_F(LiveExit, AClientThatIsRefusedIsEndedAndTheOthersGoOn) {
  Refuser policy;
  RunInput input;
  input.clients = {shell("a", "trap 'echo asked >$OUT; exit' TERM; $APP never_synchronise 0 500 & wait"),
                   client("b", {"step", "200", "500"})};
  input.clients[1].arrival = 400ms;
  input.policy = &policy;
  input.policy_name = "refuser";
  input.horizon = 20s;
  LiveFacts facts;
  const RunResult result = live::run_live(input, facts, options_, report_);
  EXPECT_EQ(output("a"), "asked\n");
  EXPECT_EQ(facts.of(1).size(), 200u);
  EXPECT_LT(result.end, kRunStart + 10s) << "all clients have left";
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("client 'a' was refused by the policy"), std::string::npos) << report_.notes[0];
}

TEST_F(LiveExit, ARefusedProgramThatDoesNotEndIsKilled) {
  options_.end_patience = 200ms;
  Refuser policy;
  RunInput input;
  input.clients = {shell("a", "trap '' TERM; $APP step 3 100; sleep 1.5; echo lives >$OUT"), shell("b", "sleep 2")};
  input.policy = &policy;
  input.policy_name = "refuser";
  input.horizon = 20s;
  LiveFacts facts;
  live::run_live(input, facts, options_, report_);
  EXPECT_EQ(output("a"), "");
}

/// A program that is the first to touch a page of a full /dev/shm would be killed for it.
TEST(LiveGate, HasItsMemoryBeforeTheFirstWrite) {
  const live::SealedMemory memory("lane", sizeof(gate::Lane));
  struct stat file {};
  ASSERT_EQ(fstat(memory.descriptor(), &file), 0);
  EXPECT_GE(static_cast<std::size_t>(file.st_blocks) * 512, sizeof(gate::Lane));
}

TEST(LiveGate, CannotBeMadeShorterByAProgram) {
  const live::GateOwner owner(1);
  gate::Memory memory;
  ASSERT_EQ(gate::receive(owner.path(0).c_str(), memory, 1'000'000'000), gate::Receipt::kReceived);
  EXPECT_NE(ftruncate(memory.lane, 0), 0);
  EXPECT_NE(ftruncate(memory.common, 0), 0);
  close(memory.lane);
  close(memory.common);
}

std::vector<std::filesystem::path> gate_folders() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("corun-gate-")) found.push_back(entry.path());
  return found;
}

TEST(LiveGate, RemovesTheFolderOfASchedulerThatHasDiedAndNoOther) {
  const live::GateOwner living(1);
  const pid_t scheduler = fork();
  if (scheduler == 0) {
    const live::GateOwner dead(1);
    _exit(0);
  }
  waitpid(scheduler, nullptr, 0);
  const std::vector<std::filesystem::path> before = gate_folders();
  const live::GateOwner owner(1);
  const std::vector<std::filesystem::path> after = gate_folders();
  EXPECT_EQ(std::ranges::count(after, std::filesystem::path(living.folder())), 1);
  EXPECT_EQ(after.size(), before.size()) << "one came, one went";
}

/// As another user can, who may make anything in a folder that is everybody's.
TEST(LiveGate, IsNotDelayedByWhatLooksLikeAnother) {
  const std::filesystem::path folder = "/dev/shm/corun-gate-strange";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const pid_t stranger = fork();
  if (stranger == 0) {
    for (const char* name : {"gate", "gate-0"})
      fcntl(open((folder / name).c_str(), O_RDWR | O_CREAT, 0666), F_SETLEASE, F_WRLCK);
    std::filesystem::create_directory(folder / "has-begun");
    for (;;) pause();
  }
  while (!std::filesystem::exists(folder / "has-begun")) std::this_thread::sleep_for(1ms);
  const auto begin = std::chrono::steady_clock::now();
  const live::GateOwner owner(1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s) << "opening a file of which another has a lease takes long";
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(folder));
  std::filesystem::remove_all(folder);
}

TEST(LiveGate, LeavesNothingBehindWhereItCannotBeMade) {
  const std::vector<std::filesystem::path> before_it = gate_folders();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string said;
  try {
    const live::GateOwner owner(1);
  } catch (const Error& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(said.find("cannot have memory"), std::string::npos) << said;
  EXPECT_EQ(gate_folders(), before_it);
}

/// A scheduler with two clients, `a` with a lock for good and `b` at a closed gate, is killed. How long it took until
/// so many processes had said on `b`'s output that it is gone.
Duration LiveExit::kill_scheduler_of_two(const std::string& b, std::size_t processes) const {
  for (const char* name : {"a", "b", "b.began"}) remove_output(name);
  const pid_t scheduler = fork();
  if (scheduler == 0) {
    const auto rule = testing::make_policy("nvshare", {{"quantum", "3600s"}});
    RunInput input;
    input.clients = {shell("a", "exec $APP never_synchronise 3000 500 2>$OUT"),
                     shell("b", "exec 2>$OUT; echo >$OUT.began; " + b)};
    input.clients[1].arrival = 300ms;
    input.policy = rule.get();
    input.policy_name = "nvshare";
    input.horizon = 60s;
    testing::Facts facts;
    live::LiveReport report;
    live::run_live(input, facts, options_, report);
    _exit(0);
  }
  await_output("b.began", 1, "\n", 10s);
  std::this_thread::sleep_for(300ms);  // until its processes stand at the gate
  kill(scheduler, SIGKILL);
  const Duration waited = await_output("b", processes, kGone, 5s);
  waitpid(scheduler, nullptr, 0);
  await_output("a", 1, "launched", 10s);
  await_output("b", processes, "launched", 10s);
  return waited;
}

/// The quickest of some deaths: a machine that is busy otherwise may be late for a while.
constexpr int kDeaths = 10;

TEST_F(LiveExit, WithoutASchedulerProgramsRunOnWithinATenthOfASecondAndSayItOnce) {
  Duration quickest = 5s;
  for (int i = 0; i < kDeaths && quickest > 100ms; ++i) {
    quickest = std::min(quickest, kill_scheduler_of_two("exec $APP step 100 100", 1));
    EXPECT_EQ(output("a"), kGone + "launched 3000\n");
    EXPECT_EQ(output("b"), kGone + "launched 100\n");
  }
  EXPECT_LE(quickest, 100ms);
}

TEST_F(LiveExit, WithoutASchedulerAllProcessesOfAClientRunOnWithinATenthOfASecond) {
  Duration quickest = 5s;
  for (int i = 0; i < kDeaths && quickest > 100ms; ++i) {
    quickest = std::min(quickest, kill_scheduler_of_two("for i in 1 2 3; do $APP step 100 100 & done; wait", 3));
    EXPECT_EQ(count("b", kGone), 3u) << output("b");
    EXPECT_EQ(count("b", "launched 100\n"), 3u) << output("b");
  }
  EXPECT_LE(quickest, 100ms);
}

}  // namespace
}  // namespace corun
