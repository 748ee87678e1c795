#include "traces/unwrap.h"

#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "traces/base/error.h"

namespace corun {
namespace {

constexpr std::size_t kStepBytes = std::size_t{1} << 18;

// Where unwrapped bytes go, and where the limit is kept.
class Sink {
 public:
  Sink(std::string path, std::uint64_t max_bytes, std::string& out)
      : path_(std::move(path)), max_bytes_(max_bytes), out_(out), step_(kStepBytes) {}

  char* step() { return step_.data(); }
  std::size_t step_size() const { return step_.size(); }

  void take(std::size_t size) {
    if (out_.size() + size > max_bytes_) fail_too_large(path_, max_bytes_);
    out_.append(step_.data(), size);
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw_input(SourceLocation{path_}, "{}", fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::string path_;
  std::uint64_t max_bytes_;
  std::string& out_;
  std::vector<char> step_;
};

class GzipUnwrapper final : public Unwrapper {
 public:
  explicit GzipUnwrapper(Sink sink) : sink_(std::move(sink)) {
    constexpr int kGzipOnly = 16;
    const int result = inflateInit2(&stream_, MAX_WBITS + kGzipOnly);
    CORUN_ASSERT(result == Z_OK, "inflateInit2: {}", result);
  }
  GzipUnwrapper(const GzipUnwrapper&) = delete;
  GzipUnwrapper& operator=(const GzipUnwrapper&) = delete;
  ~GzipUnwrapper() override { inflateEnd(&stream_); }

  void feed(std::string_view block) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    stream_.avail_in = static_cast<uInt>(block.size());
    bool is_output_full = false;
    while (stream_.avail_in > 0 || is_output_full) is_output_full = inflate_step();
    fed_ += block.size();
  }

  void finish() override {
    if (!is_member_complete_) sink_.fail("gzip stream ends early at byte {}, expected the rest of it", fed_);
  }

 private:
  // True if there may be more output without more input.
  bool inflate_step() {
    // A file may be several gzip streams one after another.
    if (is_member_complete_) inflateReset(&stream_);
    stream_.next_out = reinterpret_cast<Bytef*>(sink_.step());
    stream_.avail_out = static_cast<uInt>(sink_.step_size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      const char* reason = stream_.msg != nullptr ? stream_.msg : "zlib error";
      sink_.fail("gzip stream is damaged after {} bytes of content: {}", stream_.total_out, reason);
    }
    is_member_complete_ = result == Z_STREAM_END;
    sink_.take(sink_.step_size() - stream_.avail_out);
    return stream_.avail_out == 0 && !is_member_complete_;
  }

  Sink sink_;
  z_stream stream_{};
  std::uint64_t fed_ = 0;
  bool is_member_complete_ = false;
};

class ZstdUnwrapper final : public Unwrapper {
 public:
  explicit ZstdUnwrapper(Sink sink) : sink_(std::move(sink)), stream_(ZSTD_createDStream(), &ZSTD_freeDStream) {
    CORUN_ASSERT(stream_ != nullptr, "ZSTD_createDStream");
  }

  void feed(std::string_view block) override {
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    bool is_output_full = false;
    while (in.pos < in.size || is_output_full) {
      ZSTD_outBuffer out{sink_.step(), sink_.step_size(), 0};
      expected_next_ = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(expected_next_)) {
        sink_.fail("zstd stream is damaged near byte {}: {}", fed_ + in.pos, ZSTD_getErrorName(expected_next_));
      }
      sink_.take(out.pos);
      is_output_full = out.pos == out.size && expected_next_ != 0;
    }
    fed_ += block.size();
  }

  void finish() override {
    if (expected_next_ != 0) sink_.fail("zstd stream ends early at byte {}, expected the rest of it", fed_);
  }

 private:
  Sink sink_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::uint64_t fed_ = 0;
  std::size_t expected_next_ = 0;  // 0: a frame is complete
};

}  // namespace

std::unique_ptr<Unwrapper> make_unwrapper(std::string_view beginning, const std::string& path, std::uint64_t max_bytes,
                                          std::string& out) {
  using namespace std::string_view_literals;
  if (beginning.starts_with("\x1F\x8B"sv)) return std::make_unique<GzipUnwrapper>(Sink{path, max_bytes, out});
  if (beginning.starts_with("\x28\xB5\x2F\xFD"sv)) return std::make_unique<ZstdUnwrapper>(Sink{path, max_bytes, out});
  return nullptr;
}

void fail_too_large(const std::string& path, std::uint64_t max_bytes) {
  throw Error(ErrorKind::kInput, SourceLocation{path}, fmt::format("content of more than {} bytes", max_bytes),
              "split the capture; one that is packed and to be trusted can be unpacked first");
}

}  // namespace corun
