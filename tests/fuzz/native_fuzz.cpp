#include <optional>

#include "tests/fuzz/chunk_input.h"
#include "tests/fuzz/harness.h"
#include "traces/native/native.h"

namespace corun::fuzz {
namespace {

void read(std::string_view input) {
  const std::string file = chunks_of(input);
  const NativeReport report = [&] {
    NativeReport found;
    accepts([&] { found = verify_native(file, "input"); });
    return found;
  }();
  promise(report.rows_before_damage <= report.rows_readable, "rows before the damage are readable");
  const bool is_whole = accepts([&] {
    const Timeline timeline = read_native(file, "input");
    if (!is_one_of(16, input)) return;
    const std::string written = encode_native(timeline);
    promise(encode_native(read_native(written, "again")) == written, "what is read is written alike");
  });
  promise(!(is_whole && report.damage), "a damaged file is not taken for a good one");
  accepts([&] {
    const std::optional<CompactCapture> columns = read_native_compact(file, "input");
    if (!columns) return;
    promise(is_whole, "what becomes columns is a whole file");
    promise(columns->op_count() == read_native(file, "input").ops().size(), "columns hold every operation");
  });
  accepts([&] { read_native(file, "input", {.use_prefix = true}); });
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::read(corun::fuzz::text_of(data, size));
  return 0;
}
