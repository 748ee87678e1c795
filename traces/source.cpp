#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

#include "traces/base/column.h"
#include "traces/base/error.h"
#include "traces/reader.h"
#include "traces/unwrap.h"

namespace corun {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;  // stays in the cache between reading, hashing and unwrapping
constexpr std::uint64_t kPaddingBytes = 64;                // JSON parsers read that far beyond the end
constexpr std::uint64_t kUsualExpansion = 16;              // of a compressed capture; a hint for one allocation
constexpr std::uint64_t kMostExpansion = 100;              // of one: a file that grows more was made to
constexpr std::uint64_t kSmallContent = std::uint64_t{64} << 20;  // may grow as it likes

[[noreturn]] void fail_to_read(const std::string& path, int error_number) {
  throw_input(SourceLocation{path}, "cannot read it: {}", std::generic_category().message(error_number));
}

class InputFile {
 public:
  // Opening a FIFO must not wait for a writer.
  explicit InputFile(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) fail_to_read(path_, errno);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::close(descriptor_); }

  std::uint64_t size_of_regular_file() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) fail_to_read(path_, errno);
    if (!S_ISREG(status.st_mode)) {
      throw_input(SourceLocation{path_}, "{}, expected a regular file",
                  S_ISDIR(status.st_mode) ? "a directory" : "a device, pipe or socket");
    }
    return static_cast<std::uint64_t>(status.st_size);
  }

  // Fills the buffer unless the file ends first. Returns the bytes read.
  std::size_t read(char* buffer, std::size_t size) const {
    std::size_t filled = 0;
    while (filled < size) {
      const ssize_t got = ::read(descriptor_, buffer + filled, size - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_to_read(path_, errno);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }

 private:
  const std::string& path_;
  int descriptor_;
};

class ContentHash {
 public:
  ContentHash() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_128bits_reset(state_.get()); }

  void add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }

  std::string hex() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    return fmt::format("{:02x}", fmt::join(canonical.digest, ""));
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

SourceFile read_source(const std::string& path, const ReadLimits& limits) {
  const InputFile file{path};
  const std::uint64_t file_size = file.size_of_regular_file();
  SourceFile source{.path = path, .bytes = {}, .hash = {}, .was_wrapped = false};
  std::vector<char> buffer(kBlockBytes);
  ContentHash hash;
  std::unique_ptr<Unwrapper> unwrapper;

  for (bool is_first = true;; is_first = false) {
    const std::string_view block{buffer.data(), file.read(buffer.data(), buffer.size())};
    if (is_first) {
      const std::uint64_t plausible = std::max(file_size * kMostExpansion, kSmallContent);
      unwrapper = make_unwrapper(block, path, std::min(limits.max_bytes, plausible), source.bytes);
      source.was_wrapped = unwrapper != nullptr;
      if (!unwrapper && file_size > limits.max_bytes) fail_too_large(path, limits.max_bytes);
      const std::uint64_t likely_size = source.was_wrapped ? file_size * kUsualExpansion : file_size;
      source.bytes.reserve(std::min(likely_size, limits.max_bytes) + kPaddingBytes);
      prefer_large_pages(source.bytes.data(), source.bytes.capacity());
    }
    hash.add(block);
    if (unwrapper) {
      unwrapper->feed(block);
    } else if (source.bytes.size() + block.size() > limits.max_bytes) {
      fail_too_large(path, limits.max_bytes);
    } else {
      source.bytes.append(block);
    }
    if (block.size() < buffer.size()) break;
  }
  if (unwrapper) unwrapper->finish();
  source.bytes.reserve(source.bytes.size() + kPaddingBytes);
  source.hash = hash.hex();
  return source;
}

}  // namespace corun
