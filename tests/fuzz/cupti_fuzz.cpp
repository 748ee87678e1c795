#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/fuzz/harness.h"
#include "tracer/cuda/cupti_decode.h"

namespace corun::fuzz {
namespace {

/// Decodes a record that ends where its memory ends, so that reading behind it is seen.
void decode(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::unique_ptr<char, decltype(&std::free)> record(static_cast<char*>(std::malloc(bytes.size())), &std::free);
  std::memcpy(record.get(), bytes.data(), bytes.size());
  const auto decoded = cupti::decode(reinterpret_cast<const cupti::Activity*>(record.get()), bytes.size());
  if (decoded.verdict != cupti::Decoded::Verdict::kRecord) return;
  promise(decoded.end_ns >= decoded.start_ns, "a record that is kept does not end before it begins");
  promise(decoded.head.size >= sizeof(part::RecordHead) && decoded.head.size % 8 == 0, "its size is that of a record");
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::decode(corun::fuzz::text_of(data, size));
  return 0;
}
