#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "sim/policy/descriptor.h"
#include "traces/base/error.h"

/// A policy that does what no policy should, at its hundredth decision. Which of it, its parameter says.
namespace {

using namespace corun;

class Evil : public Policy {
 public:
  explicit Evil(std::string deed) : deed_(std::move(deed)) {}

  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
    if (++decisions_ >= 100) misbehave(view, actions);
  }

 private:
  void misbehave(const GpuView& view, Actions& actions) {
    if (decisions_ == 100) usleep(500'000);  // what has finished before is then written
    if (deed_ == "throws") throw std::runtime_error("I give up");
    if (deed_ == "throws_a_number") throw 42;
    if (deed_ == "names_a_stranger") actions.open(ClientId{4'000'000'000});
    if (deed_ == "admits_too_much") actions.close(ClientId{0}), actions.admit(ClientId{0}, 1'000'000);
    if (deed_ == "wakes_in_the_past") actions.wake_at(view.now - Duration{1});
    if (deed_ == "asks_for_everything") actions.set_sm_share(ClientId{0}, 1e300);
    if (deed_ == "eats_memory") hoard_.emplace_back(std::size_t{1} << 40);
    if (deed_ == "writes_to_stdout") std::puts("I was here"), std::fflush(stdout);
    if (deed_ == "breaks_a_promise") CORUN_ASSERT(decisions_ < 100, "decision {}", decisions_);
    if (deed_ == "closes_files")
      for (int file = 3; file < 64; ++file) close(file);
    if (decisions_ == 100) std::fprintf(stderr, "evil at %lld ns\n", static_cast<long long>(to_ns(view.now)));
    if (deed_ == "exits") std::exit(0);
    if (deed_ == "aborts") std::abort();
    if (deed_ == "crashes") std::raise(SIGSEGV);
    if (deed_ == "writes_nowhere") *nowhere_ = 1;
    if (deed_ == "never_stops_calling_itself") descend(1);
    if (deed_ == "never_returns")
      while (true) pause();
  }

  int descend(int depth) {
    std::array<volatile char, 4096> frame{};
    return depth == 0 ? 0 : descend(depth + 1) + frame[static_cast<std::size_t>(depth) % frame.size()];
  }

  const std::string deed_;
  volatile int* volatile nowhere_ = nullptr;
  int decisions_ = 0;
  std::vector<std::vector<char>> hoard_;
};

PolicyDescriptor describe() {
  PolicyDescriptor descriptor;
  descriptor.name = "evil";
  descriptor.summary = "Does what no policy should.";
  descriptor.source = "ours";
  descriptor.parameters
      .choice("deed", {"throws", "throws_a_number", "names_a_stranger", "admits_too_much", "wakes_in_the_past",
                       "asks_for_everything", "eats_memory", "writes_to_stdout", "breaks_a_promise", "closes_files",
                       "exits", "aborts", "crashes", "writes_nowhere", "never_stops_calling_itself", "never_returns"})
      .means("What it does.")
      .from("ours");
  descriptor.create = [](const Parameters& values) { return std::make_unique<Evil>(values.choice("deed")); };
  return descriptor;
}

}  // namespace

extern "C" const PolicyPlugin* corun_policy_plugin() {
  static const PolicyPlugin plugin{sizeof(PolicyPlugin), PolicyPlugin::kAbi, &describe};
  return &plugin;
}
