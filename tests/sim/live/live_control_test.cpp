// Live runs that are asked and adjusted while they go on.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>

#include "sim/live/control_door.h"
#include "tests/sim/live/live_fixture.h"

namespace corun {
namespace {

class LiveControl : public LiveShell {
 protected:
  /// Two programs that launch without end under nvshare, whose first keeps the lock for a minute.
  LiveFacts run_pair(std::vector<Adjustment> adjustments, Duration horizon) {
    PolicyRegistry registry;
    add_builtin_policies(registry);
    const PolicyDescriptor& nvshare = *registry.find("nvshare");
    Parameters parameters = nvshare.defaults();
    parameters.set("quantum", Duration{60s});
    const auto policy = nvshare.create(parameters);
    ClientSpec second = client("b", {"step", "0", "500"});
    second.arrival = 100ms;
    input_.device.sm_count = 132;
    input_.device.max_threads_per_sm = 2048;
    input_.clients = {client("a", {"step", "0", "500"}), second};
    input_.policy = policy.get();
    input_.policy_name = nvshare.name;
    input_.horizon = horizon;
    input_.adjustments = std::move(adjustments);
    input_.adjustable = AdjustableParameters(nvshare, parameters);
    LiveFacts facts;
    result_ = live::run_live(input_, facts, options_, report_);
    return facts;
  }

  std::string control() const { return path_of("control"); }
  /// Asks until it is answered, for a while.
  std::string ask(const std::vector<std::string>& words) const {
    const executor::WallClock clock;
    while (true) try {
        return live::ask_run(control(), words);
      } catch (const Error& error) {
        if (clock.elapsed() > 3s || error.message().find("no live run") == std::string::npos) throw;
        std::this_thread::sleep_for(10ms);
      }
  }
  std::string refusal(const std::vector<std::string>& words) const {
    try {
      return ask(words);
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_F(LiveControl, AnAdjustmentOfTheExperimentComesAtItsTime) {
  const LiveFacts facts = run_pair({{500ms, "anti_thrash", false}}, 1s);
  ASSERT_FALSE(facts.of(1).empty());
  EXPECT_GE(facts.of(1).front().begin, kRunStart + 500ms);
  EXPECT_GT(facts.of(0).back().begin, kRunStart + 700ms);
}

TEST_F(LiveControl, ARunIsAskedAdjustedAndSaysSo) {
  options_.control = control();
  auto facts = std::async(std::launch::async, [&] { return run_pair({}, 3s); });
  ask({});
  std::this_thread::sleep_for(500ms);
  const std::string before = ask({});
  EXPECT_NE(before.find("policy nvshare, "), std::string::npos) << before;
  EXPECT_NE(before.find("of 3.0 s\n  quantum=60s\n  anti_thrash=true\n"), std::string::npos) << before;
  EXPECT_NE(before.find("client b waits (lock), 0.000 s of device time\n"), std::string::npos) << before;
  EXPECT_NE(ask({"quantum=2s", "anti_thrash=false"}).find("  quantum=2s\n  anti_thrash=false\n"), std::string::npos);
  std::this_thread::sleep_for(500ms);
  const std::string after = ask({});
  EXPECT_EQ(after.find("client b waits (lock)"), std::string::npos) << after;
  EXPECT_GT(facts.get().of(1).size(), 10u);
  const auto has_note = [&](const std::string& start) {
    return std::ranges::any_of(report_.notes, [&](const std::string& note) { return note.starts_with(start); });
  };
  EXPECT_TRUE(has_note("quantum=2s was set from outside after "));
  EXPECT_TRUE(has_note("anti_thrash=false was set from outside after "));
}

TEST_F(LiveControl, WhereAPartOfAnAdjustmentIsWrongNothingChanges) {
  options_.control = control();
  auto facts = std::async(std::launch::async, [&] { return run_pair({}, 1500ms); });
  EXPECT_EQ(
      refusal({"anti_thrash=false", "quantm=2s"}),
      control() +
          ": policy 'nvshare' has no parameter 'quantm' that may change in a run; there are quantum, anti_thrash");
  EXPECT_NE(ask({}).find("anti_thrash=true"), std::string::npos);
  EXPECT_TRUE(facts.get().of(1).empty());
}

TEST_F(LiveControl, AskersThatSayNothingHoldNothingUp) {
  options_.control = control();
  auto facts = std::async(std::launch::async, [&] { return run_pair({}, 1500ms); });
  ask({});
  std::vector<int> silent;
  for (int i = 0; i < 40; ++i) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    control().copy(address.sun_path, sizeof(address.sun_path) - 1);
    silent.push_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    connect(silent.back(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  EXPECT_NE(ask({}).find("policy nvshare"), std::string::npos);
  facts.get();
  for (const int asker : silent) close(asker);
}

TEST_F(LiveControl, WhereNothingRunsThatIsSaid) {
  EXPECT_EQ(refusal({}).find(control() + ": no live run answers: No such file or directory"), 0u) << refusal({});
}

TEST_F(LiveControl, TheSocketIsGoneAfterTheRunAndNoFileIsReplaced) {
  options_.control = control();
  run_pair({}, 200ms);
  EXPECT_FALSE(std::filesystem::exists(control()));
  std::ofstream(control()) << "mine";
  try {
    run_pair({}, 200ms);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.what(), control() + ": there is a file, and a socket is to be made");
  }
  EXPECT_EQ(output("control"), "mine");
}

}  // namespace
}  // namespace corun
