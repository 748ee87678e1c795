// The memory that a gate shares with the scheduler: its words, who holds its slots, how its two sides wake one another.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/tracer/gate/scheduler_side.h"
#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/link.h"
#include "tracer/gate/channel/process.h"
#include "tracer/gate/channel/word.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::FrameMoment;
using gate::FrameTeller;
using guest::monotonic_ns;

constexpr std::int64_t kNsPerMs = 1'000'000;

TEST(GateWord, ThroughAClosedGatePassWhatIsBelowTheLimit) {
  const std::uint64_t word = gate::closed_word(7, 10);
  EXPECT_TRUE(gate::is_closed(word));
  EXPECT_EQ(gate::launches_of(word), 7u);
  EXPECT_TRUE(gate::passes(word, 9));
  EXPECT_FALSE(gate::passes(word, 10));
  EXPECT_FALSE(gate::passes(word, 11));
  EXPECT_TRUE(gate::passes(word & ~gate::kClosed, 11)) << "all pass an open one";
  EXPECT_EQ(gate::launches_of(word + 1), 8u) << "a launch is one addition";
}

TEST(GateWord, ALimitIsToldApartUpToItsFurthest) {
  constexpr std::uint64_t kFurthest = 4'194'303;  // half of 23 bits
  const std::uint64_t limit = 3 * 8'388'608ull + 5, word = gate::closed_word(limit, limit);
  EXPECT_EQ(gate::kFurthest, kFurthest);
  EXPECT_TRUE(gate::passes(word, limit - 1));
  EXPECT_TRUE(gate::passes(word, limit - 6)) << "below a multiple of what the limit counts to";
  EXPECT_TRUE(gate::passes(word, limit - kFurthest));
  EXPECT_FALSE(gate::passes(word, limit - kFurthest - 1));
  EXPECT_FALSE(gate::passes(word, limit));
  EXPECT_FALSE(gate::passes(word, limit + kFurthest));
  EXPECT_EQ(gate::launches_of(gate::closed_word((1ull << 40) - 1, limit)), (1ull << 40) - 1);
}

TEST(GateWord, SlotsAreMarkedByPlaceAndTurn) {
  EXPECT_EQ(gate::mark_of_slot(3, 0), 3u);
  EXPECT_EQ(gate::mark_of_slot(3, 2), 67u);
  EXPECT_NE(gate::mark_of_slot(31, 0), gate::mark_of_slot(0, 1));
}

TEST(Futex, WaitingAwakeEndsWithTheChangeOrTheTime) {
  std::atomic<std::uint32_t> word{1};
  EXPECT_TRUE(gate::spin_until_changed(word, 0, 1'000'000'000));
  const std::int64_t begin = monotonic_ns();
  EXPECT_FALSE(gate::spin_until_changed(word, 1, 3 * kNsPerMs));
  EXPECT_GE(monotonic_ns() - begin, 3 * kNsPerMs);
  EXPECT_LT(monotonic_ns() - begin, 1000 * kNsPerMs);
  std::thread changer([&] {
    std::this_thread::sleep_for(5ms);
    word = 2;
  });
  EXPECT_TRUE(gate::spin_until_changed(word, 1, 10'000 * kNsPerMs));
  EXPECT_LT(monotonic_ns() - begin, 5000 * kNsPerMs);
  changer.join();
}

TEST(Futex, ASleeperWakesWhenAChangeIsAnnounced) {
  std::atomic<std::uint32_t> word{7}, sleepers{0};
  const std::int64_t begin = monotonic_ns();
  gate::futex_wait(word, 6, 10'000 * kNsPerMs);
  EXPECT_LT(monotonic_ns() - begin, 5000 * kNsPerMs) << "the word is another already";
  gate::futex_wait(word, 7, 2 * kNsPerMs);
  EXPECT_GE(monotonic_ns() - begin, 2 * kNsPerMs);
  for (const bool counts_sleepers : {false, true}) {
    const std::uint32_t seen = word;
    std::thread sleeper([&] {
      ++sleepers;
      while (word == seen) gate::futex_wait(word, seen, 10'000 * kNsPerMs);
      --sleepers;
    });
    testing::comes_true([&] { return sleepers == 1; });
    std::this_thread::sleep_for(20ms);
    if (counts_sleepers) gate::announce(word, sleepers);
    if (!counts_sleepers) gate::announce(word);
    sleeper.join();
    EXPECT_EQ(word, seen + 1);
  }
  EXPECT_LT(monotonic_ns() - begin, 8000 * kNsPerMs);
  gate::announce(word, sleepers);
  EXPECT_EQ(word, 10u) << "the word changes though nothing sleeps";
}

/// How many of its waits return at once although the word has changed.
int waits_in_vain(gate::AwakeWait& awake) {
  std::atomic<std::uint32_t> changed{1};
  int vain = 0;
  while (vain < 1000 && !awake.wait(changed, 0, kNsPerMs)) ++vain;
  return vain;
}

TEST(AwakeWait, DoesNotWaitEightTimesAfterAnAnswerThatDidNotCome) {
  gate::AwakeWait awake;
  std::atomic<std::uint32_t> same{0};
  EXPECT_EQ(waits_in_vain(awake), 0);
  const std::int64_t begin = monotonic_ns();
  gate::AwakeWait fresh;
  EXPECT_FALSE(fresh.wait(same, 0, 3 * kNsPerMs));
  EXPECT_GE(monotonic_ns() - begin, 3 * kNsPerMs);
  EXPECT_EQ(waits_in_vain(fresh), 8);
  EXPECT_EQ(waits_in_vain(fresh), 0);
}

TEST(AwakeWait, AnswersThatCameMakeUpForTwoThatDidNot) {
  gate::AwakeWait awake;
  std::atomic<std::uint32_t> same{0};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(waits_in_vain(awake), 0);
  EXPECT_FALSE(awake.wait(same, 0, 0));
  EXPECT_FALSE(awake.wait(same, 0, 0));
  EXPECT_EQ(waits_in_vain(awake), 0) << "sixteen count, no more";
  EXPECT_FALSE(awake.wait(same, 0, 0));
  EXPECT_EQ(waits_in_vain(awake), 7);
}

/// A child that does nothing.
pid_t sleeping_child() {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  return child;
}

TEST(GateProcess, IsToldApartFromOneThatHasEnded) {
  const pid_t child = sleeping_child();
  const auto id = static_cast<std::uint32_t>(child);
  EXPECT_FALSE(gate::has_died(id));
  kill(child, SIGKILL);
  EXPECT_TRUE(testing::comes_true([&] { return gate::has_died(id); })) << "before its parent has asked for it";
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(gate::has_died(id));
  EXPECT_TRUE(gate::has_died(gate::kFormerProcess));
  EXPECT_FALSE(gate::has_died(gate::kForeignProcess | id)) << "not known of one in another namespace";
}

TEST(GateProcess, SoItIsWhereNoFileCanBeOpened) {
  const pid_t gone = sleeping_child(), living = sleeping_child();
  kill(gone, SIGKILL);
  waitpid(gone, nullptr, 0);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const bool has_died = gate::has_died(static_cast<std::uint32_t>(gone));
  const bool lives = !gate::has_died(static_cast<std::uint32_t>(living));
  setrlimit(RLIMIT_NOFILE, &before);
  kill(living, SIGKILL);
  waitpid(living, nullptr, 0);
  EXPECT_TRUE(has_died);
  EXPECT_TRUE(lives);
}

TEST(GateProcess, IsKnownByItsNumberInTheSchedulersNamespaceAlone) {
  const auto id = static_cast<std::uint32_t>(getpid());
  const std::uint64_t here = gate::pid_namespace();
  ASSERT_NE(here, 0u);
  EXPECT_EQ(gate::own_process(here), id);
  EXPECT_EQ(gate::own_process(0), id) << "where the scheduler's is not known";
  const std::uint32_t elsewhere = gate::own_process(here + 1);
  EXPECT_NE(elsewhere & gate::kForeignProcess, 0u);
  EXPECT_EQ(gate::own_process(here + 1), elsewhere);
}

class GateLinkTest : public ::testing::Test {
 protected:
  ~GateLinkTest() override {
    if (link_.is_open()) link_.close();
  }
  gate::Lane& lane() const { return scheduler_.lane(); }
  std::string said_by_opening() {
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(link_.open());
    return ::testing::internal::GetCapturedStderr();
  }

  static inline const std::string kUnreachable =
      "corun: the gate cannot be reached, this program runs on without one\n";
  testing::SchedulerSide scheduler_;
  gate::GateLink link_;
};

TEST_F(GateLinkTest, IsOpenedWhereTheEnvironmentNamesAGate) {
  EXPECT_FALSE(link_.is_open());
  ASSERT_TRUE(link_.open());
  EXPECT_TRUE(link_.is_open());
  link_.lane().captured = 5;
  EXPECT_EQ(lane().captured, 5u) << "the same memory";
  link_.close();
  EXPECT_FALSE(link_.is_open());
  ASSERT_TRUE(link_.open_at_once());
  EXPECT_EQ(link_.lane().captured, 5u);
}

TEST_F(GateLinkTest, NoGateAndOneWhoseRunIsOverAreNoneSilently) {
  unsetenv(gate::kFileVariable);
  EXPECT_EQ(said_by_opening(), "");
  setenv(gate::kFileVariable, "/nonexistent/gate", 1);
  EXPECT_EQ(said_by_opening(), "");
  setenv(gate::kFileVariable, scheduler_.path().c_str(), 1);
  lane().is_over = 1;
  EXPECT_EQ(said_by_opening(), "");
  EXPECT_FALSE(link_.is_open());
}

TEST_F(GateLinkTest, AGateOfAnotherLayoutOrNameIsSaidToBeOutOfReach) {
  scheduler_.common().magic = gate::kMagic + 1;
  EXPECT_EQ(said_by_opening(), kUnreachable);
  EXPECT_FALSE(link_.is_open());
  scheduler_.common().magic = gate::kMagic;
  setenv(gate::kFileVariable, ("/" + std::string(255, 'a')).c_str(), 1);
  EXPECT_EQ(said_by_opening(), kUnreachable) << "a name that is too long";
  setenv(gate::kFileVariable, ("/" + std::string(254, 'a')).c_str(), 1);
  EXPECT_EQ(said_by_opening(), kUnreachable) << "one that is too long for a socket";
}

TEST_F(GateLinkTest, AProcessTakesTheFirstSlotThatIsEmpty) {
  ASSERT_TRUE(link_.open());
  lane().slots[0].process = 1, lane().slots[1].process = 1;
  lane().slots[2].turn = 4;
  ASSERT_TRUE(link_.take_slot());
  EXPECT_EQ(&link_.slot(), &link_.lane().slots[2]);
  EXPECT_EQ(lane().slots[2].process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(link_.slot_mark(), gate::mark_of_slot(2, 4));
  EXPECT_EQ(lane().slots_used, 3u);
  lane().slots[0].process = gate::kNoProcess;
  ASSERT_TRUE(link_.take_slot());
  EXPECT_EQ(&link_.slot(), &link_.lane().slots[0]);
  EXPECT_EQ(lane().slots_used, 3u);
  EXPECT_EQ(lane().slots[2].process, gate::kFormerProcess) << "what it had before is given up";
  EXPECT_EQ(lane().slots[1].process, 1u) << "another's is not";
  EXPECT_EQ(lane().processes_without_slot, 0u);
}

TEST_F(GateLinkTest, WhereOthersHaveAllSlotsItGetsNone) {
  ASSERT_TRUE(link_.open());
  for (gate::Slot& slot : lane().slots) slot.process = 1;
  const std::int64_t begin = monotonic_ns();
  EXPECT_FALSE(link_.take_slot());
  EXPECT_LT(monotonic_ns() - begin, 100 * kNsPerMs) << "none of them will be free soon";
  EXPECT_EQ(lane().processes_without_slot, 1u);
}

TEST_F(GateLinkTest, ItWaitsForTheSlotOfOneThatHasDied) {
  ASSERT_TRUE(link_.open());
  for (gate::Slot& slot : lane().slots) slot.process = 1;
  lane().slots[9].process = gate::kFormerProcess;
  std::thread reaper([&] {
    std::this_thread::sleep_for(30ms);
    scheduler_.beat();
    lane().slots[9].process = gate::kNoProcess;
  });
  EXPECT_TRUE(link_.take_slot());
  EXPECT_EQ(&link_.slot(), &link_.lane().slots[9]);
  reaper.join();
  lane().slots[9].process = gate::kFormerProcess;
  scheduler_.beat(5000 * kNsPerMs);
  const std::int64_t begin = monotonic_ns();
  EXPECT_FALSE(link_.take_slot());
  EXPECT_LT(monotonic_ns() - begin, 100 * kNsPerMs) << "there is no scheduler that would empty it";
}

TEST_F(GateLinkTest, ASchedulerIsThereWhileItBeatsOrAnswersForASecond) {
  ASSERT_TRUE(link_.open());
  EXPECT_TRUE(link_.has_scheduler());
  scheduler_.beat(500 * kNsPerMs);
  EXPECT_TRUE(link_.has_scheduler()) << "it is late, and answers";
  scheduler_.beat(1500 * kNsPerMs);
  EXPECT_FALSE(link_.has_scheduler()) << "it hangs";
  scheduler_.end_door();
  scheduler_.beat(-1000 * kNsPerMs);
  EXPECT_TRUE(link_.has_scheduler()) << "one that has just beaten is not asked";
  scheduler_.beat(100 * kNsPerMs);
  EXPECT_FALSE(link_.has_scheduler()) << "it has died";
}

TEST_F(GateLinkTest, TheBellWakesTheScheduler) {
  ASSERT_TRUE(link_.open());
  link_.ring();
  EXPECT_EQ(scheduler_.common().bell, 1u);
  const std::int64_t begin = monotonic_ns();
  std::thread sleeper([&] {
    scheduler_.common().is_asleep = 1;
    gate::futex_wait(scheduler_.common().bell, 1, 10'000 * kNsPerMs);
  });
  testing::comes_true([&] { return scheduler_.common().is_asleep == 1; });
  std::this_thread::sleep_for(20ms);
  link_.ring();
  sleeper.join();
  EXPECT_LT(monotonic_ns() - begin, 5000 * kNsPerMs);
  EXPECT_EQ(scheduler_.common().bell, 2u);
}

TEST_F(GateLinkTest, AFrameIsToldWithWhatTheGpuTook) {
  ASSERT_TRUE(link_.open());
  lane().frame_count = 4;
  lane().frames_read = 4;
  link_.tell_frame(FrameMoment::kBegin, 7, 1000);
  EXPECT_EQ(scheduler_.common().bell, 0u);
  lane().tells = 1;
  link_.tell_frame(FrameMoment::kEnd, 7, 5000, 2000);
  EXPECT_EQ(scheduler_.common().bell, 1u);
  EXPECT_EQ(lane().frame_count, 6u);
  const gate::FrameRecord &begin = lane().frames[4], &end = lane().frames[5];
  EXPECT_EQ(begin.ready, 5u);
  EXPECT_EQ(begin.number, 7u);
  EXPECT_EQ(begin.moment, FrameMoment::kBegin);
  EXPECT_EQ(begin.at_ns, 1000);
  EXPECT_EQ(begin.gpu_begin_ns, 0);
  EXPECT_EQ(begin.gpu_end_ns, 0);
  EXPECT_EQ(begin.gpu_busy_ns, 0);
  EXPECT_EQ(end.ready, 6u);
  EXPECT_EQ(end.moment, FrameMoment::kEnd);
  EXPECT_EQ(end.gpu_begin_ns, 2000);
  EXPECT_EQ(end.gpu_end_ns, 5000);
  EXPECT_EQ(end.gpu_busy_ns, 3000);
}

TEST_F(GateLinkTest, FramesThatTheSchedulerHasNoRoomForAreCounted) {
  ASSERT_TRUE(link_.open());
  for (std::uint64_t i = 0; i < 258; ++i) link_.tell_frame(FrameMoment::kBegin, i, 1);
  EXPECT_EQ(lane().frame_count, 256u);
  EXPECT_EQ(lane().frames_lost, 2u);
  lane().frames_read = 1;
  link_.tell_frame(FrameMoment::kBegin, 300, 1);
  EXPECT_EQ(lane().frames[0].number, 300u) << "in the place that has been read";
  EXPECT_EQ(lane().frames[0].ready, 257u);
  EXPECT_EQ(lane().frames[1].number, 1u);
  EXPECT_EQ(lane().frames_lost, 2u);
}

TEST_F(GateLinkTest, OfTwoLibrariesInAProgramTheFirstHasItsFrames) {
  ASSERT_TRUE(link_.open());
  EXPECT_TRUE(link_.claim_frames(FrameTeller::kVulkan));
  EXPECT_EQ(lane().frame_process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(static_cast<std::uint32_t>(lane().frame_teller), 2u);
  EXPECT_FALSE(link_.claim_frames(FrameTeller::kGl));
  EXPECT_TRUE(link_.claim_frames(FrameTeller::kVulkan));
}

/// The kernel's random bytes of a program may be zeros; zero is no program.
TEST_F(GateLinkTest, EveryProgramHasAMark) {
  ASSERT_TRUE(link_.open());
  auto* random = reinterpret_cast<char*>(getauxval(AT_RANDOM));
  char before[4];
  memcpy(before, random, sizeof before);
  memset(random, 0, sizeof before);
  const bool is_claimed = link_.claim_frames(FrameTeller::kGl);
  memcpy(random, before, sizeof before);
  EXPECT_TRUE(is_claimed);
  EXPECT_NE(lane().frame_teller >> 32, 0u);
}

TEST_F(GateLinkTest, TheNewestProgramHasTheFramesUntilItDies) {
  ASSERT_TRUE(link_.open());
  lane().frame_teller = std::uint64_t{77} << 32 | 1;
  EXPECT_TRUE(link_.claim_frames(FrameTeller::kGl)) << "from a program before it";
  const std::uint64_t ours = lane().frame_teller;
  link_.tell_frame(FrameMoment::kBegin, 0, 1);
  EXPECT_EQ(lane().frame_count, 1u);

  lane().frame_teller = std::uint64_t{78} << 32 | 1;
  lane().frame_process = 1;
  for (const FrameMoment moment : {FrameMoment::kBegin, FrameMoment::kPresent, FrameMoment::kEnd})
    link_.tell_frame(moment, 1, 1);
  EXPECT_EQ(lane().frame_count, 1u) << "a newer one has them";

  lane().frame_process = gate::kNoProcess;
  link_.tell_frame(FrameMoment::kEnd, 1, 1);
  EXPECT_EQ(lane().frame_count, 1u) << "in the middle of a frame nothing is taken back";
  link_.tell_frame(FrameMoment::kBegin, 2, 1);
  EXPECT_EQ(lane().frame_count, 2u);
  EXPECT_EQ(lane().frame_teller, ours);
  EXPECT_EQ(lane().frame_process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(lane().frames_lost, 0u);
}

/// Only root can be another user.
TEST(GateHandover, NothingIsTakenFromAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const testing::TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  const std::string path = folder / "gate";
  const pid_t stranger = fork();
  if (stranger == 0) {
    if (setuid(65534) != 0) _exit(1);
    const int listener = gate::listen_at(path.c_str());
    for (;; usleep(1000)) gate::hand_over(listener, {STDOUT_FILENO, STDERR_FILENO});
  }
  testing::comes_true([&] { return gate::is_answered(path.c_str()); });
  gate::Memory memory;
  EXPECT_EQ(gate::receive(path.c_str(), memory, 1'000'000'000), gate::Receipt::kFailed);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Sends the next guest so many descriptors.
void send_descriptors(int listener, std::size_t count) {
  const int guest = accept(listener, nullptr, nullptr);
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[64] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  const std::vector<int> sent(count, STDOUT_FILENO);
  memcpy(CMSG_DATA(rights), sent.data(), count * sizeof(int));
  sendmsg(guest, &message, 0);
  close(guest);
}

TEST(GateHandover, OtherThanTwoDescriptorsAreClosedAgain) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    const testing::TemporaryFolder folder;
    const std::string path = folder / "gate";
    const int listener = gate::listen_at(path.c_str());
    ASSERT_EQ(fcntl(listener, F_SETFL, 0), 0) << "accept() waits";
    const std::size_t before = open_descriptors();
    std::thread scheduler([&] { send_descriptors(listener, count); });
    gate::Memory memory;
    const gate::Receipt receipt = gate::receive(path.c_str(), memory, 10'000'000'000);
    scheduler.join();
    EXPECT_EQ(receipt, count == 2 ? gate::Receipt::kReceived : gate::Receipt::kFailed) << count;
    EXPECT_EQ(open_descriptors(), before + (count == 2 ? 2 : 0)) << count;
    if (receipt == gate::Receipt::kReceived) close(memory.common), close(memory.lane);
    close(listener);
  }
}

TEST(GateHandover, AProgramDoesNotWaitWhereNothingListens) {
  const testing::TemporaryFolder folder;
  gate::Memory memory;
  const std::int64_t before_ns = monotonic_ns();
  EXPECT_EQ(gate::receive((folder / "gate").c_str(), memory, 10'000 * kNsPerMs), gate::Receipt::kNothingThere);
  EXPECT_LT(monotonic_ns() - before_ns, 5'000 * kNsPerMs);
}

TEST(GateHandover, WithoutAGuestThereIsNothingToHandOver) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "gate";
  EXPECT_FALSE(gate::is_answered(path.c_str()));
  const int listener = gate::listen_at(path.c_str());
  ASSERT_GE(listener, 0);
  EXPECT_TRUE(gate::hand_over(listener, {STDOUT_FILENO, STDERR_FILENO}));
  EXPECT_TRUE(gate::is_answered(path.c_str()));
  close(listener);
  EXPECT_FALSE(gate::is_answered(path.c_str())) << "a socket that a dead scheduler has left";
  const std::string too_long = "/tmp/" + std::string(200, 'a');
  EXPECT_LT(gate::listen_at(too_long.c_str()), 0);
  const int input = fcntl(STDIN_FILENO, F_GETFD);
  EXPECT_TRUE(gate::is_answered(too_long.c_str())) << "not to be found out";
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), input) << "no descriptor of the program is touched";
  EXPECT_LT(gate::listen_at("/nonexistent/gate"), 0);
}

}  // namespace
}  // namespace corun
