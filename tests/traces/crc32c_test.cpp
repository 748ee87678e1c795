#include "traces/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace corun {
namespace {

TEST(Crc32c, GivesThePublishedCheckValue) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c_portable("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Crc32c, GivesThePublishedValuesOf32Bytes) {
  EXPECT_EQ(crc32c(std::string(32, '\x00')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
}

TEST(Crc32c, IsTheSameWithAndWithoutTheInstruction) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(crc32c(bytes), crc32c_portable(bytes)) << i << " bytes";
    bytes.push_back(static_cast<char>(i * 37 + 11));
  }
}

}  // namespace
}  // namespace corun
