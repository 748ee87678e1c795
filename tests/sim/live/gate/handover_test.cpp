// How a guest comes to the memory of its gate where it is held up: by signals, by a scheduler that does not answer, by
// files that cannot be opened.
#include "tracer/gate/channel/handover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "sim/live/gate_owner.h"
#include "tests/support/temporary_folder.h"
#include "tests/tracer/gl/traced_run.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::Receipt;

constexpr std::int64_t kPatienceNs = 1'000'000'000;

Receipt receive_and_close(const std::string& path, std::int64_t patience_ns = kPatienceNs) {
  gate::Memory memory;
  const Receipt receipt = gate::receive(path.c_str(), memory, patience_ns);
  if (receipt == Receipt::kReceived) close(memory.common), close(memory.lane);
  return receipt;
}

/// The lowest descriptor that is free.
int next_descriptor() {
  const int descriptor = dup(STDERR_FILENO);
  close(descriptor);
  return descriptor;
}

void set_most_descriptors(int most) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = static_cast<rlim_t>(most);
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool has_exited_well(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A socket at which a stopped scheduler would stand.
class SilentGate : public ::testing::Test {
 protected:
  ~SilentGate() override { close(listener_); }
  std::string with_gate(const std::string& command) const {
    return "CORUN_GATE=" + path_ + " LD_PRELOAD=" CORUN_GATE_LIBRARY " " + command;
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "gate";
  int listener_ = gate::listen_at(path_.c_str());
};

TEST_F(SilentGate, IsGivenUpWhenItsTimeIsOver) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(receive_and_close(path_, 100'000'000), Receipt::kFailed);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
}

TEST_F(SilentGate, IsToldApartFromNone) {
  EXPECT_EQ(receive_and_close(folder_ / "nothing"), Receipt::kNothingThere);
  EXPECT_EQ(receive_and_close("/" + std::string(200, 'a')), Receipt::kFailed);
}

TEST_F(SilentGate, AnswersLateThoughSignalsComeAllTheTime) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> is_over{false};
  const pthread_t guest = pthread_self();
  std::thread others([&] {
    for (int i = 0; i < 100 || !is_over; ++i) {
      if (i == 100) gate::hand_over(listener_, {STDOUT_FILENO, STDERR_FILENO});
      pthread_kill(guest, SIGUSR1);
      std::this_thread::sleep_for(1ms);
    }
  });
  EXPECT_EQ(receive_and_close(path_, 20 * kPatienceNs), Receipt::kReceived);
  is_over = true;
  others.join();
}

TEST_F(SilentGate, HoldsUpNoProgramWithoutCuda) {
  auto quickest = 10s + 0ns;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(run(with_gate("/bin/true")), (Ended{"", 0}));
    quickest = std::min<std::chrono::nanoseconds>(quickest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(quickest, 500ms);
}

TEST_F(SilentGate, IsToldOfByAProgramWithCuda) {
  const Ended ended = run(with_gate(LIVE_APP " step 10 100"));
  EXPECT_EQ(ended.output, "corun: the gate cannot be reached, this program runs on without one\nlaunched 10\n");
  EXPECT_EQ(
      run("CORUN_GATE=" + (folder_ / "nothing") + " LD_PRELOAD=" CORUN_GATE_LIBRARY " " LIVE_APP " step 10 100").output,
      "launched 10\n")
      << "a run that is over";
}

TEST_F(SilentGate, LeavesErrnoAsAProgramFindsIt) { EXPECT_EQ(run(with_gate(LIVE_APP " errno")).output, "errno 0\n"); }

TEST(Handover, LeavesNoDescriptorBehindWhereOnlyOneOfTwoFits) {
  const live::GateOwner owner(1);
  const pid_t guest = fork();
  if (guest == 0) {
    const int its_socket = dup(STDERR_FILENO), one_more = next_descriptor();
    close(its_socket);
    set_most_descriptors(one_more + 1);
    const bool has_failed = receive_and_close(owner.path(0)) == Receipt::kFailed;
    const bool is_clean = fcntl(its_socket, F_GETFD) < 0 && fcntl(one_more, F_GETFD) < 0;
    _exit(has_failed ? (is_clean ? 0 : 1) : 2);
  }
  EXPECT_TRUE(has_exited_well(guest));
}

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

TEST(Handover, WaitsCalmlyForADescriptorToAnswerWith) {
  const live::GateOwner owner(1);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  set_most_descriptors(next_descriptor());
  const pid_t guest = fork();
  if (guest == 0) {
    setrlimit(RLIMIT_NOFILE, &before);
    _exit(receive_and_close(owner.path(0), 20 * kPatienceNs) == Receipt::kReceived ? 0 : 1);
  }
  const auto begin = cpu_time();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(cpu_time() - begin, 100ms);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(has_exited_well(guest));
}

}  // namespace
}  // namespace corun
