#include "tracer/guest/text_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace corun::guest {
namespace {

std::unique_ptr<TextTable> empty_table() { return std::unique_ptr<TextTable>(new TextTable()); }

std::uint32_t keep(TextTable& table, const std::string& text) {
  return table.keep(text.data(), static_cast<std::uint32_t>(text.size()));
}
std::uint32_t find(const TextTable& table, const std::string& text) {
  return table.find(text.data(), static_cast<std::uint32_t>(text.size()));
}

TEST(TextTable, FindsEveryTextItKeptAndNoOther) {
  const auto table = empty_table();
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(keep(*table, "kernel " + std::to_string(i)), i + 1u);
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(find(*table, "kernel " + std::to_string(i)), i + 1u);
  EXPECT_EQ(find(*table, "kernel 20000"), 0u);
  EXPECT_EQ(find(*table, ""), 0u);
}

TEST(TextTable, TextsThatDifferInOneLateCharacterAreTwo) {
  const auto table = empty_table();
  const std::string name(3000, 'x');
  keep(*table, name + "a");
  EXPECT_EQ(find(*table, name + "b"), 0u);
  EXPECT_EQ(find(*table, name), 0u);
}

TEST(TextTable, SaysWhenItIsFull) {
  const auto table = empty_table();
  const std::string large(4096, 'y');
  std::uint32_t kept = 0;
  while (keep(*table, large + std::to_string(kept)) != 0) ++kept;
  EXPECT_GT(kept, 4000u);
  EXPECT_LE(kept * 4096, TextTable::kMostBytes);
  EXPECT_EQ(find(*table, large + "0"), 1u) << "what was kept before stays";
}

}  // namespace
}  // namespace corun::guest
