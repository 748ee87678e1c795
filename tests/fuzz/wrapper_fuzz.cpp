#include <string>

#include "tests/fuzz/harness.h"
#include "traces/unwrap.h"

namespace corun::fuzz {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 16;

std::string unwrapped(std::string_view bytes, std::size_t block) {
  std::string out;
  const auto unwrapper = make_unwrapper(bytes.substr(0, block), "input", kMaxBytes, out);
  if (!unwrapper) return out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(block, bytes.size()))) {
    unwrapper->feed(bytes.substr(0, block));
    promise(out.size() <= kMaxBytes, "nothing expands beyond its limit");
  }
  unwrapper->finish();
  return out;
}

void unwrap(std::string_view bytes) {
  std::string whole, in_blocks;
  const bool is_good = accepts([&] { whole = unwrapped(bytes, std::max<std::size_t>(bytes.size(), 1)); });
  const bool is_good_in_blocks = accepts([&] { in_blocks = unwrapped(bytes, 61); });
  promise(is_good == is_good_in_blocks && whole == in_blocks, "how a stream is cut into blocks changes nothing");
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::unwrap(corun::fuzz::text_of(data, size));
  return 0;
}
