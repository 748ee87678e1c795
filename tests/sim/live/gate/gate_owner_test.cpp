// The scheduler's end of the gates: memory of each client's own, its folder, its sleep.
#include "sim/live/gate_owner.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "sim/executor/host/wall_clock.h"
#include "sim/live/client/server_file.h"
#include "sim/live/quality_file.h"
#include "tracer/gate/channel/process.h"
#include "tracer/gate/channel/word.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using executor::WallClock;

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

/// The memory of a client's gate as a guest has it.
class Guest {
 public:
  explicit Guest(const std::string& path) {
    gate::Memory memory;
    EXPECT_EQ(gate::receive(path.c_str(), memory, 5'000'000'000), gate::Receipt::kReceived);
    common = static_cast<gate::GateCommon*>(map(sizeof(gate::GateCommon), memory.common));
    lane = static_cast<gate::Lane*>(map(sizeof(gate::Lane), memory.lane));
  }
  ~Guest() {
    munmap(common, sizeof(gate::GateCommon));
    munmap(lane, sizeof(gate::Lane));
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  gate::GateCommon* common;
  gate::Lane* lane;

 private:
  static void* map(std::size_t size, int descriptor) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return memory;
  }
};

TEST(GateOwner, GivesEachClientTheMemoryOfItsOwnGateAndOfAll) {
  live::GateOwner owner(3);
  owner.lane(2).captured = 7;
  owner.common().bell = 5;
  const Guest second(owner.path(1)), third(owner.path(2));
  EXPECT_EQ(second.lane->captured, 0u);
  EXPECT_EQ(third.lane->captured, 7u);
  for (const Guest* guest : {&second, &third}) {
    EXPECT_EQ(guest->common->bell, 5u);
    EXPECT_EQ(guest->common->magic, gate::kMagic);
    EXPECT_EQ(guest->common->pid_namespace, gate::pid_namespace());
    EXPECT_EQ(guest->lane->gate, gate::closed_word(0, 0));
  }
}

TEST(GateOwner, ItsGatesStayOpenWhenItEnds) {
  auto owner = std::make_unique<live::GateOwner>(2);
  const Guest first(owner->path(0)), second(owner->path(1));
  for (std::uint32_t i = 0; i < 2; ++i) {
    owner->lane(i).bound = 5;
    owner->lane(i).bound_ns = 6;
    owner->lane(i).gate.fetch_add(3);
  }
  owner.reset();
  for (const Guest* guest : {&first, &second}) {
    EXPECT_EQ(guest->lane->is_over, 1u);
    EXPECT_EQ(guest->lane->bound, 0u);
    EXPECT_EQ(guest->lane->bound_ns, 0u);
    EXPECT_EQ(guest->lane->turn, 1u) << "what waits is woken";
    EXPECT_FALSE(gate::is_closed(guest->lane->gate));
    EXPECT_EQ(gate::launches_of(guest->lane->gate), 3u);
  }
}

TEST(GateOwner, LeavesNothingOpenAndNoFolder) {
  std::string folder;
  const std::ptrdiff_t before = open_descriptors();
  {
    const live::GateOwner owner(2);
    folder = owner.folder();
    EXPECT_TRUE(std::filesystem::is_socket(owner.path(0)));
    EXPECT_TRUE(std::filesystem::is_socket(owner.path(1)));
    EXPECT_GT(open_descriptors(), before);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(GateOwner, TakesNoProcessorWhileNobodyAsks) {
  const live::GateOwner owner(2);
  std::this_thread::sleep_for(20ms);
  const auto begin = processor_time();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(processor_time() - begin, 100ms);
}

TEST(GateOwner, TakesSixtyFourClients) {
  EXPECT_TRUE(std::filesystem::exists(live::GateOwner(64).path(63)));
  try {
    const live::GateOwner owner(65);
    FAIL() << "it took more";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("65 clients: a live run takes at most 64"), std::string::npos);
  }
}

TEST(GateOwner, BeatsWithTheClock) {
  live::GateOwner owner(1);
  const std::int64_t before = WallClock::monotonic_ns();
  EXPECT_LE(owner.common().heartbeat_ns, before);
  EXPECT_GT(owner.common().heartbeat_ns, before - 10'000'000'000);
  owner.beat();
  EXPECT_GE(owner.common().heartbeat_ns, before);
  EXPECT_LE(owner.common().heartbeat_ns, WallClock::monotonic_ns());
}

/// How long it slept.
std::chrono::nanoseconds slept(live::GateOwner& owner, std::uint32_t seen, std::int64_t most_ns, bool is_near = false) {
  const WallClock clock;
  owner.await_bell(seen, most_ns, is_near);
  EXPECT_EQ(owner.common().is_asleep, 0u);
  return clock.elapsed();
}

TEST(GateOwner, SleepsUntilTheBellRingsOrTheTimeIsOver) {
  live::GateOwner owner(1);
  for (const bool is_near : {false, true}) {
    EXPECT_GE(slept(owner, 0, 20'000'000, is_near), 20ms);
    EXPECT_LT(slept(owner, 1, 5'000'000'000, is_near), 2s) << "it has rung since";
  }
  EXPECT_LT(slept(owner, 0, 0), 2s);
  EXPECT_LT(slept(owner, 0, -5'000'000'000), 2s) << "an instant that is over";
  std::thread guest([&] {
    while (owner.common().is_asleep == 0) std::this_thread::sleep_for(1ms);
    gate::announce(owner.common().bell);
  });
  EXPECT_LT(slept(owner, 0, 10'000'000'000), 5s);
  guest.join();
}

TEST(QualityFile, HoldsTheLevelAsAGameReadsIt) {
  const live::GateOwner owner(1);
  const std::string path = owner.folder() + "/quality-0";
  const auto level = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  {
    live::QualityFile file(path, 3);
    EXPECT_EQ(file.path(), path);
    EXPECT_EQ(level(), std::string("\3\0\0\0", 4));
    file.set(258);
    EXPECT_EQ(level(), std::string("\2\1\0\0", 4));
    EXPECT_THROW(live::QualityFile(path, 1), Error) << "another's";
    EXPECT_EQ(level(), std::string("\2\1\0\0", 4));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ServerFile, ReadsWhatAServerWrites) {
  const live::GateOwner owner(1);
  const executor::WallClock clock;
  live::ServerFile file(owner.folder() + "/server-0");
  EXPECT_EQ(file.read(clock).steps, 0U);
  EXPECT_EQ(file.read(clock).oldest_request, kNever);
  const std::int64_t said[] = {executor::WallClock::monotonic_ns(), 7};
  std::fstream(file.path(), std::ios::in | std::ios::out | std::ios::binary)
      .write(reinterpret_cast<const char*>(said), sizeof(said));
  EXPECT_EQ(file.read(clock).steps, 7U);
  EXPECT_EQ(file.read(clock).oldest_request, clock.at(said[0]));
}

TEST(ServerFile, SaysNothingOfAFileThatWasMadeShorter) {
  const live::GateOwner owner(1);
  const executor::WallClock clock;
  live::ServerFile file(owner.folder() + "/server-0");
  std::filesystem::resize_file(file.path(), 9);
  EXPECT_EQ(file.read(clock).steps, 0U);
  EXPECT_EQ(file.read(clock).oldest_request, kNever);
}

}  // namespace
}  // namespace corun
