#include "tests/fuzz/chunk_input.h"
#include "tests/fuzz/harness.h"
#include "traces/native/native.h"
#include "traces/parts/merge.h"
#include "traces/parts/part_reader.h"

namespace corun::fuzz {
namespace {

/// What a traced process left behind, whoever wrote it: refused, or merged into a timeline that can be kept.
void read(std::string_view input) {
  const std::string file = chunks_of(input);
  is_part(file);
  accepts([&] {
    std::vector<PartContent> parts;
    parts.push_back(read_part(file, "input"));
    MergeReport report;
    const Timeline timeline = merge_parts(std::move(parts), {}, report);
    if (is_one_of(16, input)) encode_native(timeline);
  });
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::read(corun::fuzz::text_of(data, size));
  return 0;
}
