#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "traces/native/native.h"

namespace corun {
namespace {

// The bytes of lines such as "00000010  13 2d d7".
std::string bytes_of_hex_dump(const std::string& document) {
  std::string bytes;
  std::istringstream lines{document};
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 10 || line.substr(8, 2) != "  " || line.find_first_not_of("0123456789abcdef ") < line.size())
      continue;
    std::istringstream numbers{line.substr(10)};
    for (int number; numbers >> std::hex >> number;) bytes.push_back(static_cast<char>(number));
  }
  return bytes;
}

TEST(FormatDocument, ShowsTheBytesThatAreWritten) {
  std::ostringstream document;
  document << std::ifstream{CORUN_SOURCE_DIR "/traces/schema/FORMAT.md"}.rdbuf();
  TimelineBuilder b;
  b.queue({.stream = 7});
  for (int i = 0; i < 3; ++i) b.add(OpRecord{.start_ns = i * 1'000, .duration_ns = 300 + i});
  const Timeline timeline = std::move(b).seal();
  EXPECT_EQ(bytes_of_hex_dump(document.str()), encode_native(timeline));
}

}  // namespace
}  // namespace corun
