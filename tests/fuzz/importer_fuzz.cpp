#include <string>

#include "tests/fuzz/harness.h"
#include "traces/native/native.h"
#include "traces/reader.h"

namespace corun::fuzz {
namespace {

const TraceImporter& importer() {
  for (const auto& candidate : importers())
    if (candidate->name() == CORUN_FUZZ_FORMAT) return *candidate;
  std::abort();
}

/// Whatever a foreign file says: it is refused, or it is a timeline that the native format keeps.
void import_bytes(std::string_view bytes) {
  static const TraceImporter& its = importer();
  SourceFile source{.path = "input", .bytes = std::string(bytes)};
  source.bytes.reserve(source.bytes.size() + 64);
  its.sniff(source);
  accepts([&] {
    const Timeline timeline = its.read(source);
    if (!is_one_of(16, bytes)) return;
    const std::string native = encode_native(timeline);
    promise(encode_native(read_native(native, "again")) == native, "what is imported survives the native format");
  });
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::import_bytes(corun::fuzz::text_of(data, size));
  return 0;
}
