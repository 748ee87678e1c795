#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"
#include "traces/base/error.h"
#include "traces/reader.h"

namespace corun {
namespace {

namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

// Neither one block nor one output step.
std::string three_megabytes() {
  std::string text;
  for (int i = 0; text.size() < 3'000'000; ++i) text += "event " + std::to_string(i * 7919 % 100'003) + "\n";
  return text;
}

class Source : public ::testing::Test {
 protected:
  std::string file(const std::string& bytes) {
    const std::string path = folder_ / "capture";
    std::ofstream{path, std::ios::binary} << bytes;
    return path;
  }

  std::string error_of(const std::string& path, const ReadLimits& limits = {}) {
    try {
      read_source(path, limits);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_EQ(error.where().file, path);
      return error.message();
    }
    return "no error";
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Source, APlainFileIsItsBytes) {
  const SourceFile source = read_source(file(three_megabytes()));
  EXPECT_EQ(source.bytes, three_megabytes());
  EXPECT_FALSE(source.was_wrapped);
}

TEST_F(Source, AnEmptyFileIsEmpty) { EXPECT_EQ(read_source(file("")).bytes, ""); }

TEST_F(Source, GzipAndZstdAreTakenOff) {
  for (const std::string& wrapped : {gzip(three_megabytes()), zstd(three_megabytes())}) {
    const SourceFile source = read_source(file(wrapped));
    EXPECT_EQ(source.bytes, three_megabytes());
    EXPECT_TRUE(source.was_wrapped);
  }
}

TEST_F(Source, SeveralStreamsInOneFileAreOneContent) {
  EXPECT_EQ(read_source(file(gzip("first ") + gzip("") + gzip("second"))).bytes, "first second");
  EXPECT_EQ(read_source(file(zstd("first ") + zstd("second"))).bytes, "first second");
}

TEST_F(Source, ParsersMayReadABitBeyondTheEnd) {
  for (const std::string& bytes : {std::string(100'000, 'x'), gzip(three_megabytes()), zstd(three_megabytes())}) {
    const SourceFile source = read_source(file(bytes));
    EXPECT_GE(source.bytes.capacity(), source.bytes.size() + 64);
  }
}

TEST_F(Source, TheHashIsOfTheFileAsItLies) {
  // Published XXH3-128 value of no bytes.
  EXPECT_EQ(read_source(file("")).hash, "99aa06d3014798d86001c324468d497f");
  const std::string plain = read_source(file("abc")).hash;
  EXPECT_EQ(plain.size(), 32u);
  EXPECT_NE(read_source(file("abd")).hash, plain);
  EXPECT_NE(read_source(file(gzip("abc"))).hash, plain);
}

TEST_F(Source, ContentBeyondTheLimitIsRefusedHoweverSmallTheFile) {
  const std::string zeros(40 << 20, '\0');
  for (const std::string& bomb : {gzip(zeros), zstd(zeros)}) {
    ASSERT_LT(bomb.size(), 100'000u);
    EXPECT_HAS(error_of(file(bomb), {.max_bytes = 1 << 20}), "content of more than 1048576 bytes");
  }
  EXPECT_HAS(error_of(file("12345"), {.max_bytes = 4}), "content of more than 4 bytes");
  EXPECT_EQ(error_of(file("1234"), {.max_bytes = 4}), "no error");
}

/// 100 times its own size and 64 MiB, whatever the limit.
TEST_F(Source, AFileThatExpandsAsNoCaptureDoesIsRefusedLongBeforeTheLimit) {
  const std::string zeros(68 << 20, '\0');
  for (const std::string& bomb : {gzip(zeros), zstd(zeros)})
    EXPECT_HAS(error_of(file(bomb)), "content of more than 67108864 bytes");
  EXPECT_EQ(error_of(file(zstd(zeros.substr(0, 60 << 20)))), "no error");
}

TEST_F(Source, EveryCutOfAWrappedFileIsAnError) {
  for (const std::string& wrapped : {gzip("some content that is long enough"), zstd("some content, long enough")}) {
    for (std::size_t size = 4; size < wrapped.size(); ++size) {
      EXPECT_HAS(error_of(file(wrapped.substr(0, size))), "ends early");
    }
  }
}

TEST_F(Source, ADamagedWrapperIsAnError) {
  std::string damaged = gzip(three_megabytes());
  damaged[damaged.size() / 2] ^= 0x55;
  EXPECT_HAS(error_of(file(damaged)), "gzip stream is damaged");
  EXPECT_HAS(error_of(file(gzip("good") + "garbage")), "gzip stream");
  std::string damaged_frame = zstd(three_megabytes());
  damaged_frame[5] ^= 0x55;
  EXPECT_NE(error_of(file(damaged_frame)), "no error");
}

TEST_F(Source, OnlyRegularFilesAreRead) {
  EXPECT_HAS(error_of(folder_.path().string()), "a directory, expected a regular file");
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_HAS(error_of(fifo), "pipe or socket, expected a regular file");
  EXPECT_HAS(error_of("/dev/null"), "expected a regular file");
  EXPECT_HAS(error_of(folder_ / "absent"), "No such file");
}

}  // namespace
}  // namespace corun
