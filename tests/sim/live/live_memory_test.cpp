// What programs of a live run may allocate: limits that they are held to call by call, and managed memory.
#include <string>

#include "tests/sim/live/live_fixture.h"

namespace corun {
namespace {

using testing::Settings;

constexpr std::uint64_t kMiB = 1 << 20;

/// Lets everything pass, on these terms.
class OnTerms : public Policy {
 public:
  explicit OnTerms(MemoryTerms terms) : terms_(terms) {}
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
  }
  MemoryTerms memory_terms(const GpuView&, const ClientView&) const override { return terms_; }

 private:
  const MemoryTerms terms_;
};

class LiveMemory : public LiveShell {
 protected:
  void run_on(const MemoryTerms& terms, std::vector<ClientSpec> clients, Duration horizon = 20s) {
    OnTerms policy(terms);
    input_ = RunInput{};
    input_.clients = std::move(clients);
    input_.policy = &policy;
    input_.policy_name = "on_terms";
    input_.horizon = horizon;
    LiveFacts facts;
    live::run_live(input_, facts, options_, report_);
  }
  bool is_told(const std::string& what) const {
    return std::ranges::any_of(report_.notes, [&](const std::string& note) { return note.find(what) != note.npos; });
  }
};

TEST_F(LiveMemory, WithoutTermsAProgramHasWhatTheDeviceHas) {
  run_on({}, {shell("a", "exec $APP allocate 1 >$OUT 2>&1")});
  EXPECT_EQ(output("a"),
            "before: free 1024 of 1024, 1024 in all\n"
            "got 10, then 2; managed 0\n"
            "after: free 0 of 1024, 1024 in all\n"
            "freed 0, again 1, got back 0, managed 0\n"
            "nothing 1, nowhere 1\n"
            "launched 0\n");
  EXPECT_FALSE(is_told("memory"));
}

class LiveMemoryLimit : public LiveMemory, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, LiveMemoryLimit, ::testing::Values(LIVE_APP, LIVE_APP_BY_DLSYM, LIVE_APP_BY_ASKING),
                         [](const auto& way) {
                           const std::string path = way.param;
                           return path.substr(path.rfind('/') + 1);
                         });

TEST_P(LiveMemoryLimit, AProgramGetsSoMuchAndIsToldOfNoMore) {
  run_on({.most_bytes = 350 * kMiB, .told_bytes = 400 * kMiB},
         {shell("a", "exec " + std::string(GetParam()) + " allocate 1 >$OUT 2>&1")});
  EXPECT_EQ(output("a"),
            "before: free 350 of 400, 400 in all\n"
            "got 3, then 2; managed 0\n"
            "after: free 42 of 400, 400 in all\n"
            "freed 0, again 1, got back 0, managed 0\n"
            "nothing 1, nowhere 1\n"
            "launched 0\n");
  EXPECT_TRUE(
      is_told("client 'a' was refused 1 allocation of 102 MiB and more for its limit of 350 MiB of device "
              "memory; it had 307 MiB at most"))
      << ::testing::PrintToString(report_.notes);
}

TEST_F(LiveMemory, ALimitHoldsForAllProcessesOfAClientAndForNoOther) {
  const std::string both =
      "$APP allocate_and_stay 0 >$OUT.1 & until grep -q nowhere $OUT.1; do sleep 0.01; done;"
      "$APP allocate 0 >$OUT.2; kill %1; wait";
  run_on({.most_bytes = 350 * kMiB}, {shell("a", both), shell("b", "exec $APP allocate 1 >$OUT")});
  EXPECT_NE(output("a.1").find("got 3, then 2"), std::string::npos) << output("a.1");
  EXPECT_NE(output("a.2").find("free 42 of"), std::string::npos) << output("a.2");
  EXPECT_NE(output("a.2").find("got 0, then 2"), std::string::npos) << output("a.2");
  EXPECT_NE(output("b").find("got 3, then 2"), std::string::npos) << output("b");
}

TEST_F(LiveMemory, WhatADeadProcessHadIsFreeAgain) {
  const std::string one_after_the_other =
      "$APP allocate_and_stay 0 >$OUT.1 & until grep -q nowhere $OUT.1; do sleep 0.01; done;"
      "kill -9 $!; sleep 0.5; $APP allocate 0 >$OUT.2";
  run_on({.most_bytes = 350 * kMiB}, {shell("a", one_after_the_other)});
  EXPECT_NE(output("a.1").find("got 3, then 2"), std::string::npos) << output("a.1");
  EXPECT_NE(output("a.2").find("got 3, then 2"), std::string::npos) << output("a.2");
}

TEST_F(LiveMemory, ManagedMemoryIsSharedOutEquallyWhereItIsAskedFor) {
  options_.managed_memory = 2400 * kMiB;
  run_on({.told_bytes = 5000 * kMiB, .is_managed = true},
         {shell("a", "exec $APP allocate 1 >$OUT"), shell("b", "exec sleep 1")});
  EXPECT_EQ(output("a"),
            "before: free 1200 of 5000, 5000 in all\n"
            "got 11, then 2; managed 1\n"
            "after: free 73 of 5000, 5000 in all\n"
            "freed 0, again 1, got back 0, managed 0\n"
            "nothing 1, nowhere 1\n");
  EXPECT_TRUE(
      is_told("client 'a' had 1.1 GiB of managed memory at most, but for 102 MiB of pools, arrays and "
              "mappings over time"))
      << ::testing::PrintToString(report_.notes);
  EXPECT_FALSE(is_told("client 'b' had"));
}

TEST_F(LiveMemory, APolicysOwnLimitOfManagedMemoryHoldsWhereItIsLess) {
  options_.managed_memory = 2400 * kMiB;
  run_on({.most_bytes = 250 * kMiB, .is_managed = true}, {shell("a", "exec $APP allocate 1 >$OUT")});
  EXPECT_NE(output("a").find("got 2, then 2; managed 1"), std::string::npos) << output("a");
}

TEST_F(LiveMemory, MemoryStaysAsItIsWhereManagedMemoryIsNotAskedFor) {
  run_on({.most_bytes = 250 * kMiB, .told_bytes = 300 * kMiB, .is_managed = true},
         {shell("a", "exec $APP allocate 1 >$OUT")});
  EXPECT_NE(output("a").find("free 1024 of 1024"), std::string::npos) << output("a");
  EXPECT_NE(output("a").find("got 10, then 2; managed 0"), std::string::npos) << output("a");
}

TEST_F(LiveMemory, WhereCuptiTellsOfCallsMemoryIsNotLimitedAndThatIsTold) {
  options_.is_gated_by_cupti = true;
  run_on({.most_bytes = 250 * kMiB}, {shell("a", "exec $APP allocate 1 >$OUT")});
  EXPECT_NE(output("a").find("got 10, then 2"), std::string::npos) << output("a");
  EXPECT_TRUE(is_told("its memory is neither limited nor managed")) << ::testing::PrintToString(report_.notes);
}

TEST_F(LiveMemory, GaiaGpuLimitsMemoryByItsParameterContextIncluded) {
  input_.device.context_bytes = 0;
  ClientSpec half = shell("a", "exec $APP allocate 1 >$OUT"), whole = shell("b", "exec $APP allocate 1 >$OUT");
  half.requested_bytes = 512 * kMiB;
  half.requested_share = 0.5;
  run({half, whole}, 20s, "gaiagpu");
  EXPECT_NE(output("a").find("before: free 512 of 512, 512 in all\ngot 5, then 2"), std::string::npos) << output("a");
  EXPECT_NE(output("b").find("before: free 1024 of 1024, 1024 in all\ngot 10, then 2"), std::string::npos)
      << output("b");
}

TEST_F(LiveMemory, NvshareMakesMemoryManagedWhereItIsAskedFor) {
  options_.managed_memory = 2048 * kMiB;
  run({shell("a", "exec $APP allocate 1 >$OUT")}, 20s, "nvshare");
  EXPECT_NE(output("a").find("got 20, then 0; managed 1"), std::string::npos) << output("a");
  options_.managed_memory = 0;
  run({shell("b", "exec $APP allocate 1 >$OUT")}, 20s, "nvshare");
  EXPECT_NE(output("b").find("got 10, then 2; managed 0"), std::string::npos) << output("b");
}

}  // namespace
}  // namespace corun
