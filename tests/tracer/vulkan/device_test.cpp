#include "tracer/vulkan/device.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>

#include "tests/support/temporary_folder.h"
#include "tests/tracer/vulkan/fake_driver.h"
#include "traces/parts/part_reader.h"

namespace corun {
namespace {

using testing::FakeDriver;
using vulkan::Device;
using vulkan::DeviceTraits;
using vulkan::QueryPairs;

template <class Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

class VulkanDevice : public ::testing::Test {
 protected:
  VulkanDevice() {
    ::setenv("CORUN_TRACE_DIR", folder_.path().c_str(), 1);
    open(true);
  }
  ~VulkanDevice() override { ::unsetenv("CORUN_TRACE_DIR"); }

  void open(bool has_clock) {
    DeviceTraits traits;
    traits.is_traced = true;
    traits.timestamp_period_ns = 1;
    traits.timestamp_bits[0] = 64;
    traits.set_loader_data = FakeDriver::set_loader_data;
    traits.read_clocks = has_clock ? driver_.functions().GetCalibratedTimestamps : nullptr;
    device_->open(handle<VkDevice>(1), driver_.functions(), traits, *log_);
    device_->add_queue(kQueue, 0, true);
  }

  void add_swapchain(std::uintptr_t number = 1) { device_->add_swapchain(handle<VkSwapchainKHR>(number), {640, 480}); }

  // One submission; true where it was given command buffers for its times.
  bool submit(VkResult result = VK_SUCCESS, VkQueue queue = kQueue) {
    Device::Visit visit;
    if (!device_->begin_visit(queue, visit)) return false;
    visit.record.submit_ns = guest::monotonic_ns();
    visit.record.submit_end_ns = guest::monotonic_ns();
    device_->end_visit(visit, result, visit.first != VK_NULL_HANDLE);
    return visit.first != VK_NULL_HANDLE;
  }

  void present(std::vector<VkResult> results = {VK_SUCCESS}) {
    Device::Present present;
    device_->begin_present(present);
    present.present_ns = present.present_end_ns = guest::monotonic_ns();
    std::vector<VkSwapchainKHR> swapchains;
    for (std::size_t i = 0; i < results.size(); ++i) swapchains.push_back(handle<VkSwapchainKHR>(i + 1));
    VkPresentInfoKHR info{};
    info.swapchainCount = static_cast<std::uint32_t>(results.size());
    info.pSwapchains = swapchains.data();
    device_->end_present(present, results[0], info, results.data());
  }

  // Ends the device and the recording, and reads what it wrote.
  PartContent content() {
    device_->close();
    log_->end(part::EndReason::kExit);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      return read_part(bytes.str(), "part");
    }
    return {};
  }

  static inline const VkQueue kQueue = handle<VkQueue>(7);
  testing::TemporaryFolder folder_;
  FakeDriver driver_;
  std::unique_ptr<guest::FrameLog> log_ = std::make_unique<guest::FrameLog>();
  std::unique_ptr<Device> device_ = std::make_unique<Device>();
};

TEST_F(VulkanDevice, GivesAVisitTheTimesOfItsQueriesOnTheMonotonicClock) {
  add_swapchain();
  ASSERT_TRUE(submit());
  const std::int64_t begin = guest::monotonic_ns();
  driver_.stamp(0, begin, begin + 5000);
  present();
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_NEAR(static_cast<double>(part.visits[0].gpu_begin_ns), static_cast<double>(begin), 100);
  EXPECT_NEAR(static_cast<double>(part.visits[0].gpu_end_ns), static_cast<double>(begin + 5000), 100);
  EXPECT_EQ(part.visits[0].gpu_error_ns, 50);
  EXPECT_EQ(part.visits[0].frame, 1u);
  ASSERT_EQ(part.frames.size(), 1u);
  EXPECT_EQ(part.frames[0].visits, 1u);
}

TEST_F(VulkanDevice, TimesTheFirstVisitsWithoutWaitingForAGpuThatIsBusy) {
  driver_.reset = VK_NOT_READY;
  add_swapchain();
  ASSERT_TRUE(submit());
  const std::int64_t begin = guest::monotonic_ns();
  driver_.stamp(0, begin - 9000, begin - 8000);  // what the memory of a query that was never reset may look like
  present();
  EXPECT_EQ(driver_.reads, 0);
  driver_.reset = VK_SUCCESS;
  driver_.stamp(0, begin, begin + 5000);
  present();
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_NEAR(static_cast<double>(part.visits[0].gpu_begin_ns), static_cast<double>(begin), 100);
  EXPECT_TRUE(part.lost.empty());
}

TEST_F(VulkanDevice, ReadsTheClockWhereOtherThreadsMayGoOn) {
  std::future<void> other;
  bool did_go_on = false;
  driver_.at_clock = [&] {
    other = std::async(std::launch::async, [&] {
      Device::Present present;
      device_->begin_present(present);
    });
    did_go_on = other.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  };
  add_swapchain();
  driver_.at_clock = nullptr;
  EXPECT_TRUE(did_go_on);
}

TEST_F(VulkanDevice, LeavesErrnoAsTheProgramLeftIt) {
  errno = 42;
  add_swapchain();
  EXPECT_EQ(errno, 42);
  submit();
  EXPECT_EQ(errno, 42);
  driver_.stamp(0, 1, 2);
  present();
  EXPECT_EQ(errno, 42);
  device_->close();
  EXPECT_EQ(errno, 42);
}

TEST_F(VulkanDevice, RecordsNothingBeforeItsFirstSwapchain) {
  EXPECT_FALSE(submit());
  EXPECT_EQ(driver_.live, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(VulkanDevice, BeginsAVisitNoEarlierThanTheVisitBeforeEnded) {
  add_swapchain();
  const std::int64_t now = guest::monotonic_ns();
  submit();
  submit();
  driver_.stamp(0, now, now + 9000);
  driver_.stamp(1, now + 1000, now + 12000);
  present();
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 2u);
  EXPECT_EQ(part.visits[1].gpu_begin_ns, part.visits[0].gpu_end_ns);
}

TEST_F(VulkanDevice, DoesNotTakeTheTimesOfTheUseBeforeForAReusedPair) {
  add_swapchain();
  std::int64_t now = guest::monotonic_ns();
  for (std::uint32_t i = 0; i < QueryPairs::kCount; ++i) {
    submit();
    driver_.stamp(i, now + 10 * i, now + 10 * i + 5);
  }
  present();
  ASSERT_TRUE(submit());  // pair 0 again, still with the stamps of before
  present();
  present();
  now = guest::monotonic_ns();
  driver_.stamp(0, now, now + 5);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), QueryPairs::kCount + 1);
  EXPECT_NEAR(static_cast<double>(part.visits.back().gpu_begin_ns), static_cast<double>(now), 100);
}

TEST_F(VulkanDevice, GoesOnWithoutTimesAndSaysSoWhenAllQueriesArePending) {
  add_swapchain();
  for (std::uint32_t i = 0; i < QueryPairs::kCount; ++i) ASSERT_TRUE(submit());
  EXPECT_FALSE(submit());
  present();
  for (std::uint32_t i = 0; i < QueryPairs::kCount; ++i) driver_.stamp(i, 1 + i, 2 + i);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), QueryPairs::kCount + 1);
  EXPECT_EQ(part.lost.at(part::LossReason::kNoQuery), 1u);
  EXPECT_EQ(part.visits[0].gpu_end_ns, 0);
  EXPECT_EQ(part.frames.at(0).visits, QueryPairs::kCount + 1);
}

TEST_F(VulkanDevice, HasNoGpuTimesWithoutAClock) {
  device_->close();
  open(false);
  add_swapchain();
  EXPECT_FALSE(submit());
  present();
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_EQ(part.visits[0].gpu_end_ns, 0);
  EXPECT_EQ(part.lost.at(part::LossReason::kNoQuery), 1u);
}

TEST_F(VulkanDevice, GoesOnWithTheFrameWhenAPresentFails) {
  add_swapchain();
  submit();
  present({VK_ERROR_OUT_OF_DATE_KHR});
  submit();
  present();
  const PartContent part = content();
  ASSERT_EQ(part.frames.size(), 1u);
  EXPECT_EQ(part.frames[0].frame, 1u);
  EXPECT_EQ(part.frames[0].visits, 2u);
}

TEST_F(VulkanDevice, GivesEverySwapchainOfAPresentAFrameAndTheFirstTheVisits) {
  add_swapchain(1);
  add_swapchain(2);
  submit();
  present({VK_SUCCESS, VK_SUBOPTIMAL_KHR});
  const PartContent part = content();
  ASSERT_EQ(part.frames.size(), 2u);
  EXPECT_EQ(part.frames[0].visits, 1u);
  EXPECT_EQ(part.frames[1].visits, 0u);
  EXPECT_EQ(part.frames[1].frame, 2u);
  EXPECT_EQ(part.frames[1].swapchain, 2u);
}

TEST_F(VulkanDevice, DoesNotTouchALostDevice) {
  add_swapchain();
  submit();
  submit(VK_ERROR_DEVICE_LOST);
  const int reads = driver_.reads;
  EXPECT_FALSE(submit());
  present({VK_ERROR_DEVICE_LOST});
  const PartContent part = content();
  EXPECT_EQ(driver_.reads, reads);
  EXPECT_EQ(driver_.live, 0);
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_EQ(part.visits[0].gpu_end_ns, 0);
}

TEST_F(VulkanDevice, StopsAskingWhenADeviceSaysThatItIsLost) {
  add_swapchain();
  submit();
  driver_.answers = VK_ERROR_DEVICE_LOST;
  present();
  EXPECT_FALSE(device_->is_recording());
  device_->close();
}

TEST_F(VulkanDevice, WritesWhatItKnowsAtTheEndOfTheProcessWithoutAskingTheDevice) {
  add_swapchain();
  submit();
  const std::int64_t now = guest::monotonic_ns();
  driver_.stamp(0, now, now + 5000);
  present();
  submit();
  const int reads = driver_.reads;
  device_->flush_at_exit();
  EXPECT_EQ(driver_.reads, reads);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 2u);
  EXPECT_GT(part.visits[0].gpu_end_ns, 0);
  EXPECT_EQ(part.visits[1].gpu_end_ns, 0);
}

TEST_F(VulkanDevice, DestroysWhatItMade) {
  add_swapchain();
  submit();
  EXPECT_GT(driver_.live, 0);
  device_->close();
  EXPECT_EQ(driver_.live, 0);
}

}  // namespace
}  // namespace corun
