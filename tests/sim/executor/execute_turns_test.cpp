// Programs whose contexts take turns on the device: what each of them receives, as policies see it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/sim/executor/execute_fixture.h"

namespace corun::testing {
namespace {

class ExecuteTurns : public Execute {
 protected:
  ExecuteTurns() {
    std::string name = (std::filesystem::temp_directory_path() / "corun-turns-XXXXXX").string();
    close(mkstemp(name.data()));
    turns_ = name;
    setenv("CORUN_FAKE_CUDA_TURNS", turns_.c_str(), 1);
  }
  ~ExecuteTurns() override {
    unsetenv("CORUN_FAKE_CUDA_TURNS");
    std::filesystem::remove(turns_);
  }

  /// Goes on for ever, its host far ahead of the device.
  static ClientSpec busy(const char* name, double share = 0.0) {
    ClientSpec spec = client(name, std::vector<Duration>(40, 500us), false);
    spec.repeat = 0;
    spec.requested_share = share;
    return spec;
  }

  double received(std::uint32_t client) const {
    return to_seconds(result_.device_time[client]) / to_seconds(result_.end - kRunStart);
  }

  std::string turns_;
};

TEST_F(ExecuteTurns, ADeviceTimeIsWhatAProgramReceivedAndNotWhatItWaitedFor) {
  const Facts facts = run({busy("one"), busy("other")}, 2s);
  for (const std::uint32_t client : {0U, 1U})
    EXPECT_NEAR(received(client), 0.5, 0.08) << "its kernels take up to 2.5 ms instead of 0.5";
  Duration longest{}, told{}, spans{};
  for (const OpFact& op : facts.ops) {
    longest = std::max(longest, op.end - op.begin);
    told += op.device_time;
    spans += op.end - op.begin;
  }
  EXPECT_GT(longest, 2ms) << "else nothing was cut";
  EXPECT_LT(to_seconds(told), 1.2 * to_seconds(result_.end - kRunStart)) << "no more than one device";
  EXPECT_GT(to_seconds(spans), 1.4 * to_seconds(result_.end - kRunStart));
}

TEST_F(ExecuteTurns, AloneAProgramReceivesAllThatItsKernelsTake) {
  const Facts facts = run({busy("one")}, 1s);
  Duration told{};
  for (const OpFact& op : facts.ops) {
    EXPECT_EQ(op.device_time, op.end - op.begin);
    told += op.device_time;
  }
  EXPECT_NEAR(received(0), to_seconds(told) / to_seconds(result_.end - kRunStart), 0.05);
}

TEST_F(ExecuteTurns, ALimiterHoldsItsLimits) {
  const Facts facts = run({busy("most", 0.7), busy("rest", 0.3)}, 4s, "block_time_limiter");
  const auto most = std::ranges::count(facts.ops, ClientId{0}, &OpFact::client);
  EXPECT_NEAR(static_cast<double>(most) / static_cast<double>(facts.ops.size()), 0.7, 0.1) << "all take the same";
  EXPECT_GT(to_seconds(result_.usage.busy), 0.9 * to_seconds(result_.end - kRunStart)) << "nobody waits in vain";
}

}  // namespace
}  // namespace corun::testing
