#include "tracer/vulkan/timed_submit.h"

#include <gtest/gtest.h>

#include <vector>

namespace corun::vulkan {
namespace {

VkCommandBuffer buffer(std::uintptr_t number) { return reinterpret_cast<VkCommandBuffer>(number); }

const VkCommandBuffer kFirst = buffer(100), kLast = buffer(101);

VkSubmitInfo submit_of(const std::vector<VkCommandBuffer>& buffers, const void* next = nullptr) {
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = next;
  info.commandBufferCount = static_cast<std::uint32_t>(buffers.size());
  info.pCommandBuffers = buffers.data();
  return info;
}

std::vector<VkCommandBuffer> buffers_of(const VkSubmitInfo& info) {
  return {info.pCommandBuffers, info.pCommandBuffers + info.commandBufferCount};
}

using Timed = TimedSubmit<VkSubmitInfo, VkCommandBuffer>;
using Timed2 = TimedSubmit<VkSubmitInfo2, VkCommandBufferSubmitInfo>;

TEST(TimedSubmit, PutsOneBufferInFrontOfASubmitAndOneBehind) {
  const std::vector<VkCommandBuffer> own{buffer(1), buffer(2)};
  const VkSubmitInfo info = submit_of(own);
  Timed timed;
  ASSERT_TRUE(timed.wrap(1, &info, kFirst, kLast));
  EXPECT_EQ(buffers_of(timed.submits()[0]), (std::vector{kFirst, buffer(1), buffer(2), kLast}));
  EXPECT_EQ(info.pCommandBuffers, own.data());
  EXPECT_EQ(info.commandBufferCount, 2u);
}

TEST(TimedSubmit, PutsThemAroundSeveralSubmitsAndLeavesThoseBetween) {
  const std::vector<VkCommandBuffer> one{buffer(1)}, two{buffer(2), buffer(3)}, none;
  const VkSubmitInfo infos[] = {submit_of(none), submit_of(two), submit_of(one)};
  Timed timed;
  ASSERT_TRUE(timed.wrap(3, infos, kFirst, kLast));
  EXPECT_EQ(buffers_of(timed.submits()[0]), (std::vector{kFirst}));
  EXPECT_EQ(timed.submits()[1].pCommandBuffers, two.data());
  EXPECT_EQ(buffers_of(timed.submits()[2]), (std::vector{buffer(1), kLast}));
}

TEST(TimedSubmit, DoesTheSameForTheSecondGeneration) {
  VkCommandBufferSubmitInfo own{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, buffer(1), 0};
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &own;
  Timed2 timed;
  ASSERT_TRUE(timed.wrap(1, &info, kFirst, kLast));
  ASSERT_EQ(timed.submits()[0].commandBufferInfoCount, 3u);
  EXPECT_EQ(timed.submits()[0].pCommandBufferInfos[0].commandBuffer, kFirst);
  EXPECT_EQ(timed.submits()[0].pCommandBufferInfos[1].commandBuffer, buffer(1));
  EXPECT_EQ(timed.submits()[0].pCommandBufferInfos[2].commandBuffer, kLast);
  info.flags = VK_SUBMIT_PROTECTED_BIT;
  EXPECT_FALSE(timed.wrap(1, &info, kFirst, kLast));
}

TEST(TimedSubmit, RefusesWhatCountsCommandBuffersOrIsNotKnown) {
  const std::vector<VkCommandBuffer> own{buffer(1)};
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  VkDeviceGroupSubmitInfo group{};
  group.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO;
  const VkSubmitInfo harmless = submit_of(own, &timeline), grouped = submit_of(own, &group);
  Timed timed;
  EXPECT_TRUE(timed.wrap(1, &harmless, kFirst, kLast));
  EXPECT_FALSE(timed.wrap(1, &grouped, kFirst, kLast));
  timeline.pNext = &group;
  EXPECT_FALSE(timed.wrap(1, &harmless, kFirst, kLast));
}

TEST(TimedSubmit, RefusesMoreThanItCanCopy) {
  const std::vector<VkCommandBuffer> most(Timed::kMostBuffers, buffer(1)), more(Timed::kMostBuffers + 1, buffer(1));
  const VkSubmitInfo full = submit_of(most), too_full = submit_of(more);
  Timed timed;
  EXPECT_TRUE(timed.wrap(1, &full, kFirst, kLast));
  EXPECT_FALSE(timed.wrap(1, &too_full, kFirst, kLast));
  const std::vector<VkSubmitInfo> many(Timed::kMostSubmits, full), too_many(Timed::kMostSubmits + 1, full);
  EXPECT_TRUE(timed.wrap(Timed::kMostSubmits, many.data(), kFirst, kLast));
  EXPECT_FALSE(timed.wrap(Timed::kMostSubmits + 1, too_many.data(), kFirst, kLast));
}

TEST(TimedSubmit, SeesWhetherThereIsAnyWork) {
  const std::vector<VkCommandBuffer> own{buffer(1)}, none;
  const VkSubmitInfo infos[] = {submit_of(none), submit_of(own)};
  EXPECT_FALSE(has_work(1, infos));
  EXPECT_TRUE(has_work(2, infos));
  EXPECT_FALSE(has_work(0, static_cast<const VkSubmitInfo*>(nullptr)));
}

}  // namespace
}  // namespace corun::vulkan
