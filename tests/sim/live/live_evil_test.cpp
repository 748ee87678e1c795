// Live runs with a program that writes anything into the memory of its gate: the run and the other clients go on.
#include <sys/resource.h>

#include "tests/sim/live/live_fixture.h"

namespace corun {
namespace {

struct Harm {
  const char* manner;
  const char* fault;  ///< a part of what is said of it; "" = it harms the program's own figures at most
};
void PrintTo(const Harm& harm, std::ostream* out) { *out << harm.manner; }

constexpr Harm kHarms[] = {
    {"nothing", ""},
    {"name", "has name 4294967295 of 2048"},
    {"huge_name", "has name 4294967294 of 2048"},
    {"place_of_name", ""},
    {"endless_name", ""},
    {"names", "names overlap"},
    {"kind", "is of kind 77"},
    {"size", ""},
    {"negative_time", "longer than the run"},
    {"huge_time", "longer than the run"},
    {"end", "outside of the run"},
    {"submitted", "outside of the run"},
    {"submitted_late", "outside of the run"},
    {"group", "are of one group"},
    {"unknown_end", "launch 123456789 has ended"},
    {"gate", ""},  // by policy: too many launches, or a gate that has been changed
    {"done_count", "have ended at once"},
    {"retired", ""},
    {"many_launches", ""},  // likewise: refused, or never read, since they overwrite one another
    {"ends", ""},
    {"slots_used", ""},
    {"turn", ""},
    {"frames", "4096 frames have begun and not ended"},
    {"moment", "a frame has a moment 9"},
    {"frame_time", "outside of the run"},
    {"frame_end", "outside of the run"},
    {"frame_number", "a frame has number 18446744073709551615"},
    {"noise", ""},
    {"shorter", ""},
};

class LiveEvil : public Live, public ::testing::WithParamInterface<Harm> {
 protected:
  static ClientSpec evil(const std::string& manner) {
    ClientSpec spec = client("evil", {});
    spec.command.words = {LIVE_EVIL, manner};
    return spec;
  }
  std::string said() const {
    std::string all;
    for (const std::string& note : report_.notes) all += note + "\n";
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Manners, LiveEvil, ::testing::ValuesIn(kHarms), [](const auto& harm) {
  std::string name;
  bool begins = true;
  for (const char* c = harm.param.manner; *c != '\0'; ++c) {
    if (*c != '_') name += static_cast<char>(begins ? std::toupper(*c) : *c);
    begins = *c == '_';
  }
  return name;
});

TEST_P(LiveEvil, HarmsItselfAlone) {
  for (const char* policy : {"passthrough", "nvshare"}) {
    report_ = {};
    const bool takes_turns = policy == std::string("nvshare");
    if (takes_turns && GetParam().manner == std::string("many_launches"))
      continue;  // it keeps the lock, as a kernel without end does
    const testing::Settings settings = takes_turns ? testing::Settings{{"quantum", "100ms"}} : testing::Settings{};
    const LiveFacts facts =
        run({client("good", {"step", "0", "200"}), evil(GetParam().manner)}, 700ms, policy, settings);
    const std::vector<OpFact> its = facts.of(0);
    ASSERT_GT(its.size(), 50u) << policy << "\n" << said();
    EXPECT_GT(its.back().end, kRunStart + 400ms) << "the other's launches pass to the end";
    EXPECT_EQ(said().find("'good'"), std::string::npos) << said();
    EXPECT_EQ(said().find("'evil' ended with exit code"), std::string::npos) << "it did no harm: " << said();
    const std::string fault = GetParam().fault;
    if (fault.empty()) continue;
    EXPECT_NE(said().find("client 'evil' wrote into the memory of its gate what no gate writes"), std::string::npos)
        << policy << "\n"
        << said();
    EXPECT_NE(said().find(fault), std::string::npos) << policy << "\n" << said();
    EXPECT_NE(said().find("client 'evil' was dropped after "), std::string::npos) << said();
  }
}

TEST_F(LiveEvil, OneThatOpensItsGateIsDropped) {
  run({client("good", {"step", "0", "200"}), evil("open_gate")}, 700ms, "nvshare", {{"quantum", "10s"}});
  EXPECT_NE(said().find("its gate has been changed"), std::string::npos) << said();
}

}  // namespace
}  // namespace corun
