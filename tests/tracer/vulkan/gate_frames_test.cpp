#include "tracer/vulkan/gate_frames.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/tracer/vulkan/fake_driver.h"
#include "tracer/gate/channel/channel.h"
#include "tracer/gate/channel/handover.h"

namespace corun {
namespace {

using gate::FrameMoment;
using namespace std::chrono_literals;

/// The scheduler's side of the gate that this process finds by its environment.
class Scheduler {
 public:
  Scheduler() {
    const std::string path = folder_ / "gate";
    auto* common = static_cast<gate::GateCommon*>(make(sizeof(gate::GateCommon), memory_.common));
    lane_ = static_cast<gate::Lane*>(make(sizeof(gate::Lane), memory_.lane));
    common->magic = gate::kMagic;
    listener_ = gate::listen_at(path.c_str());
    EXPECT_GE(listener_, 0);
    door_ = std::jthread([this](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(1ms)) gate::hand_over(listener_, memory_);
    });
    ::setenv(gate::kFileVariable, path.c_str(), 1);
  }
  ~Scheduler() {
    door_ = {};
    ::close(listener_);
    ::close(memory_.common);
    ::close(memory_.lane);
  }

  std::vector<FrameMoment> heard() const {
    const gate::Lane& lane = *lane_;
    std::vector<FrameMoment> moments;
    for (std::uint64_t i = 0; i < lane.frame_count; ++i)
      if (lane.frames[i].ready == i + 1) moments.push_back(lane.frames[i].moment);
    return moments;
  }
  bool hears(FrameMoment last) const {
    for (int i = 0; i < 2000 && (heard().empty() || heard().back() != last); ++i) std::this_thread::sleep_for(1ms);
    return !heard().empty() && heard().back() == last;
  }

 private:
  static void* make(std::size_t size, int& descriptor) {
    descriptor = ::memfd_create("gate", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }

  testing::TemporaryFolder folder_;
  gate::Memory memory_;
  gate::Lane* lane_ = nullptr;
  int listener_ = -1;
  std::jthread door_;
};

TEST(GateFrames, AFrameEndsWhenTheFencesBehindItsWorkHaveBeenSignalled) {
  const Scheduler scheduler;
  testing::FakeDriver driver;
  const auto device = reinterpret_cast<VkDevice>(std::uintptr_t{1});
  const auto first = reinterpret_cast<VkQueue>(std::uintptr_t{1}),
             second = reinterpret_cast<VkQueue>(std::uintptr_t{2});
  vulkan::GateFrames frames;
  frames.open(device, driver.functions());

  driver.reset = VK_NOT_READY;
  ASSERT_TRUE(frames.before_submit());
  frames.after_submit(second);
  EXPECT_EQ(driver.live, 1) << "nothing was presented yet: any queue may have the last work";
  frames.after_present(frames.before_present(first), true);
  EXPECT_EQ(driver.live, 2);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(scheduler.heard(), (std::vector{FrameMoment::kBegin, FrameMoment::kPresent}));
  driver.reset = VK_SUCCESS;
  EXPECT_TRUE(scheduler.hears(FrameMoment::kEnd));

  ASSERT_TRUE(frames.before_submit());
  frames.after_submit(first);
  EXPECT_LE(driver.live, 1) << "the fence in front of a present covers what the queue was given";
  driver.reset = VK_NOT_READY;
  frames.after_present(frames.before_present(first), true);
  std::this_thread::sleep_for(5ms);
  driver.reset = VK_SUCCESS;
  frames.close();
  EXPECT_EQ(driver.live, 0);
}

}  // namespace
}  // namespace corun
