#include "tracer/vulkan/object_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace corun {
namespace {

using Table = vulkan::ObjectTable<int, 4>;

constexpr char kKeys[100] = {};

std::vector<int*> add_all(Table& table) {
  std::vector<int*> objects;
  for (const char& key : kKeys) {
    objects.push_back(table.take());
    *objects.back() = 3;
    table.publish(objects.back(), &key);
  }
  return objects;
}

// Tables are static, as in a process: what they allocate is never given back.
TEST(VulkanObjectTable, HoldsAndFindsAsManyAsAProgramMakes) {
  static Table table;
  const std::vector<int*> objects = add_all(table);
  for (std::size_t i = 0; i < objects.size(); ++i) EXPECT_EQ(table.find(&kKeys[i]), objects[i]);
  int sum = 0;
  table.for_each([&](int value) { sum += value; });
  EXPECT_EQ(sum, 300);
}

TEST(VulkanObjectTable, GivesOutAgainWhatWasGivenBack) {
  static Table table;
  const std::vector<int*> objects = add_all(table);
  table.hide(objects[70]);
  table.give_back(objects[70]);
  EXPECT_EQ(table.find(&kKeys[70]), nullptr);
  EXPECT_EQ(table.take(), objects[70]);
  EXPECT_EQ(table.find(&kKeys[71]), objects[71]);
}

}  // namespace
}  // namespace corun
