#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/compare.h"
#include "experiments/results_file.h"
#include "tests/fuzz/harness.h"

namespace corun::fuzz {
namespace {

/// A file that is nowhere on disk, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("results", MFD_CLOEXEC)) {
    promise(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "memory can be had");
  }
  ~MemoryFile() { close(descriptor_); }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

/// A results file, whoever wrote it: refused, or compared and listed.
void read(std::string_view bytes) {
  const MemoryFile file(bytes);
  accepts([&] { compare({file.path()}, {}); });
  accepts([&] {
    const auto results = open_results(file.path());
    for (const char* table : {"runs", "metrics", "frames", "decisions", "holds"}) columns_of(*results, table);
  });
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::read(corun::fuzz::text_of(data, size));
  return 0;
}
