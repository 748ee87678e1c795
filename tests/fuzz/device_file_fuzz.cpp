#include "experiments/question/device_file.h"
#include "sim/device/device_model.h"
#include "tests/fuzz/harness.h"

namespace corun::fuzz {
namespace {

/// The text of a device file: complained about, or a device that can be made.
void read(std::string_view bytes) {
  accepts([&] { read_device_lines(bytes, "input.yaml"); });
  accepts([&] { make_device(read_device_file(bytes, "input.yaml").spec); });
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::read(corun::fuzz::text_of(data, size));
  return 0;
}
