// The ways in which a program's calls of its driver come to its gate.
#include <set>

#include "tests/sim/live/live_fixture.h"

namespace corun {
namespace {

class LiveWays : public Live {
 protected:
  static ClientSpec client_of(const std::string& program, std::vector<std::string> words) {
    ClientSpec spec = client("a", std::move(words));
    spec.command.words.front() = program;
    return spec;
  }
  static ClientSpec shell(const std::string& line) {
    ClientSpec spec = client("a", {});
    spec.command.words = {"sh", "-c", line};
    return spec;
  }
};

class LiveFound : public LiveWays, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Programs, LiveFound, ::testing::Values(LIVE_APP_BY_DLSYM, LIVE_APP_BY_ASKING),
                         [](const auto& program) {
                           return std::string(program.param) == LIVE_APP_BY_DLSYM ? "ByDlsym" : "ByAsking";
                         });

TEST_P(LiveFound, AProgramThatFindsItsDriverIsGatedByThePreload) {
  const LiveFacts facts = run({client_of(GetParam(), {"step", "500", "200"})}, 20s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 500u);
  EXPECT_EQ(std::set<std::string>(facts.names.begin(), facts.names.end()), std::set<std::string>{"kernel"});
  EXPECT_EQ(report_.unobserved, 0u);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_P(LiveFound, SoAreItsCopiesWhateverTheDriverAnswersWith) {
  const LiveFacts facts = run({client_of(GetParam(), {"copy", "20", "100"})}, 20s);
  EXPECT_EQ(std::ranges::count(facts.ops, OpKind::kCopyHostToDevice, &OpFact::kind), 40);
}

TEST_P(LiveFound, SoAreItsGraphs) {
  const LiveFacts facts = run({client_of(GetParam(), {"graphs", "0", "100"})}, 30s, "nvshare");
  EXPECT_EQ(report_.captured, 20u);
  EXPECT_EQ(std::ranges::count(facts.names, ""), 5);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_P(LiveFound, TheDefaultStreamOfAThreadIsAnother) {
  const LiveFacts facts = run({client_of(GetParam(), {"default_streams", "20", "100"})}, 20s);
  std::set<std::uint32_t> streams;
  for (const OpFact& op : facts.ops) streams.insert(op.stream.value);
  EXPECT_EQ(facts.ops.size(), 20u);
  EXPECT_EQ(streams.size(), 2u);
}

/// Its arguments may be others by then.
TEST_F(LiveWays, AFunctionOfACudaThatIsNotKnownPassesAsItIs) {
  const LiveFacts facts = run({client_of(LIVE_APP_BY_ASKING, {"newer_copies", "20", "100"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 20u) << "kernels only";
}

TEST_F(LiveWays, AProgramWithAProfilerOfItsOwnIsGatedByThePreload) {
  const LiveFacts facts = run({client("a", {"profiled", "50", "100"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 50u);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_F(LiveWays, WithoutThePreloadItIsToldToBeUngated) {
  options_.is_gated_by_cupti = true;
  const LiveFacts facts = run({client("a", {"profiled", "50", "100"})}, 20s);
  EXPECT_TRUE(facts.ops.empty());
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(
      report_.notes[0].find("client 'a' ran without a gate: its launches could be seen by CUPTI only, which another"),
      std::string::npos)
      << report_.notes[0];
}

/// Its figures count from the end of the warm-up, whether it had begun or not.
TEST_F(LiveWays, AProgramThatBeginsLateIsToldOf) {
  const auto rule = testing::make_policy("passthrough", {});
  RunInput input;
  input.clients = {shell("sleep 0.4; exec " LIVE_APP " step 50 100"), client("b", {"step", "0", "500"})};
  input.policy = rule.get();
  input.policy_name = "passthrough";
  input.warmup = 200ms;
  input.horizon = 700ms;
  LiveFacts facts;
  live::run_live(input, facts, options_, report_);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("client 'a' launched nothing until 0.4 s"), std::string::npos) << report_.notes[0];
}

TEST_F(LiveWays, AProgramOfGraphsOnlyIsGatedAndToldOf) {
  const LiveFacts facts = run({client("a", {"graphs_only", "50", "1000"})}, 20s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 50u);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("client 'a' launches graphs only"), std::string::npos) << report_.notes[0];
}

TEST_F(LiveWays, AProgramThatLaunchesNothingIsToldApartFromOneWithoutCuda) {
  run({client("a", {"sleep"}), shell("sleep 1")}, 500ms);
  ASSERT_EQ(report_.notes.size(), 2u);
  EXPECT_EQ(report_.notes[0], "client 'a' started CUDA and launched nothing");
  EXPECT_EQ(report_.notes[1],
            "client 'a' was never at the gate: it used no CUDA and showed no frames, or says on standard error that it "
            "cannot reach it");
}

TEST_F(LiveWays, WhoComesPastThePreloadIsGatedByCupti) {
  const LiveFacts facts = run({shell("LD_PRELOAD= exec " LIVE_APP " step 50 100")}, 20s);
  EXPECT_EQ(facts.ops.size(), 50u);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("client 'a' came to its driver past the preload"), std::string::npos);
}

TEST_F(LiveWays, AProfilerThatTheEnvironmentNamesIsLeftInItsPlace) {
  ClientSpec spec = shell("test \"$CUDA_INJECTION64_PATH\" = /nonexistent/theirs.so && exec " LIVE_APP " step 50 100");
  spec.command.environment = {"CUDA_INJECTION64_PATH=/nonexistent/theirs.so"};
  EXPECT_EQ(run({spec}, 20s).ops.size(), 50u);
}

TEST_F(LiveWays, AProgramWithoutADriverFindsNone) {
  run({shell("exec python3 -c 'import ctypes; exit(hasattr(ctypes.CDLL(None), \"cuLaunchKernel\"))'")}, 20s);
  for (const std::string& note : report_.notes) EXPECT_EQ(note.find("exit code"), std::string::npos) << note;
}

}  // namespace
}  // namespace corun
