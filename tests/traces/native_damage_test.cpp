#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/tiny_timelines.h"
#include "traces/base/error.h"
#include "traces/native/chunk.h"
#include "traces/native/native.h"

namespace corun {
namespace {

using testing::periodic_kernels;
using testing::tiny_timeline;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::optional<Error> error_of_reading(const std::string& bytes) {
  try {
    read_native(bytes, "a.corun");
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

std::vector<Chunk> chunks_of(const std::string& bytes) {
  std::vector<Chunk> chunks;
  ChunkReader reader{bytes};
  while (std::optional<Chunk> chunk = reader.next()) chunks.push_back(std::move(*chunk));
  EXPECT_EQ(reader.damage(), "");
  return chunks;
}

// Rows of the first are the first rows of the second, save references that point behind the end.
template <class Row, class SameRow>
bool is_prefix(const std::vector<Row>& prefix, const std::vector<Row>& whole, SameRow same_row) {
  return prefix.size() <= whole.size() && std::equal(prefix.begin(), prefix.end(), whole.begin(), same_row);
}

bool is_prefix(const Timeline& prefix, const Timeline& whole) {
  const auto same_op = [&](OpRecord a, OpRecord b) {
    if (b.call != OpRecord::kNoIndex && b.call >= prefix.calls().size()) b.call = OpRecord::kNoIndex;
    return a == b;
  };
  const auto same_call = [&](CallRecord a, CallRecord b) {
    if (b.awaited != OpRecord::kNoIndex && b.awaited >= prefix.ops().size()) b.awaited = OpRecord::kNoIndex;
    return a == b;
  };
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  return is_prefix(prefix.ops(), whole.ops(), same_op) && is_prefix(prefix.calls(), whole.calls(), same_call) &&
         is_prefix(prefix.frames(), whole.frames(), same) && is_prefix(prefix.marks(), whole.marks(), same) &&
         is_prefix(prefix.draws(), whole.draws(), same) && is_prefix(prefix.strings(), whole.strings(), same) &&
         is_prefix(prefix.queues(), whole.queues(), same);
}

TEST(NativeDamage, EveryCutIsAReadablePrefixOrALocatedError) {
  const Timeline whole = tiny_timeline();
  const std::string bytes = encode_native(whole);
  const std::vector<Chunk> chunks = chunks_of(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const bool is_between_chunks =
        size > 0 && std::any_of(chunks.begin(), chunks.end(), [&](const Chunk& c) { return c.offset == size; });
    const std::optional<Error> error = error_of_reading(cut);
    ASSERT_EQ(error.has_value(), !is_between_chunks) << "cut after " << size << " bytes";
    if (error) {
      EXPECT_EQ(error->kind(), ErrorKind::kInput);
      EXPECT_EQ(error->where().file, "a.corun");
      EXPECT_HAS(error->message(), "chunk ");
    }
    if (size < chunks[1].offset) continue;
    const Timeline prefix = read_native(cut, "a.corun", {.use_prefix = true});
    ASSERT_TRUE(is_prefix(prefix, whole)) << "cut after " << size << " bytes";
    ASSERT_EQ(prefix.provenance().notes.size(), 2u) << "the loss is noted";
  }
}

TEST(NativeDamage, AFileWithoutFooterIsReadAndSaysSo) {
  const std::string bytes = encode_native(tiny_timeline());
  const Timeline timeline = read_native(bytes.substr(0, chunks_of(bytes).back().offset), "a.corun");
  EXPECT_EQ(timeline.ops(), tiny_timeline().ops());
  EXPECT_HAS(timeline.provenance().notes.back(), "no footer");
}

TEST(NativeDamage, EveryFlippedBitIsNoticed) {
  const std::string bytes = encode_native(tiny_timeline());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(error_of_reading(damaged).has_value()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(NativeDamage, FlipsInALargeFileLoseNoEarlierRowAndAddNoWrongOne) {
  const Timeline whole = periodic_kernels(20'000, 10'000, 4'000);
  const std::string bytes = encode_native(whole);
  std::mt19937 random{20'26};
  for (int i = 0; i < 60; ++i) {
    const std::size_t at = random() % bytes.size();
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    const NativeReport report = verify_native(damaged, "a.corun");
    ASSERT_TRUE(report.damage.has_value()) << "byte " << at;
    EXPECT_LE(report.damage->byte, at);
    EXPECT_EQ(report.chunks_readable + 1, report.chunks) << "one chunk is lost, the others are not";
    if (report.chunks_before_damage == 0) continue;
    ASSERT_TRUE(is_prefix(read_native(damaged, "a.corun", {.use_prefix = true}), whole)) << "byte " << at;
  }
}

TEST(NativeDamage, AnyBytesAreAnErrorAndNeverACrash) {
  std::mt19937 random{7};
  const std::string good = encode_native(tiny_timeline());
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes = good;
    const std::size_t at = random() % bytes.size();
    switch (random() % 3) {
      case 0:
        bytes.erase(at, 1 + random() % 20);
        break;
      case 1:
        bytes.insert(at, bytes.substr(random() % bytes.size(), 1 + random() % 40));
        break;
      default:
        std::generate_n(bytes.begin() + static_cast<long>(at), std::min<std::size_t>(8, bytes.size() - at), random);
    }
    const std::optional<Error> error = error_of_reading(bytes);
    ASSERT_TRUE(error.has_value() || is_prefix(read_native(bytes, "a.corun"), tiny_timeline())) << "mutation " << i;
    verify_native(bytes, "a.corun");
  }
}

TEST(NativeDamage, TheErrorSaysWhereWhatAndWhatToDo) {
  std::string bytes = encode_native(periodic_kernels(20'000, 10'000, 4'000));
  const std::vector<Chunk> chunks = chunks_of(bytes);
  const Chunk& victim = chunks[chunks.size() - 2];
  bytes[victim.end - 1] ^= 1;
  const std::optional<Error> error = error_of_reading(bytes);
  ASSERT_TRUE(error.has_value());
  const std::string what = error->what();
  EXPECT_HAS(what, fmt::format("a.corun: chunk {} of {}, byte {}: checksum of the payload 0x", chunks.size() - 1,
                               chunks.size(), victim.offset));
  EXPECT_HAS(what, ", expected 0x");
  EXPECT_HAS(error->help(), fmt::format("{} chunks (0.2 s, ", chunks.size() - 2));
  EXPECT_HAS(error->help(), "% of rows) are readable");
  EXPECT_HAS(error->help(), "`simcli info a.corun --recover");
}

TEST(NativeDamage, WithoutFooterTheNumberOfChunksIsALowerBound) {
  const std::string bytes = encode_native(tiny_timeline());
  const std::vector<Chunk> chunks = chunks_of(bytes);
  const std::optional<Error> error = error_of_reading(bytes.substr(0, bytes.size() - 1));
  ASSERT_TRUE(error.has_value());
  EXPECT_HAS(error->message(), fmt::format("chunk {} of >= {}", chunks.size(), chunks.size()));
  EXPECT_HAS(error->message(), "the file ends at byte");
}

TEST(NativeDamage, ADamagedChunkCostsItsOwnRowsOnly) {
  std::string bytes = encode_native(periodic_kernels(20'000, 10'000, 4'000));
  const std::vector<Chunk> chunks = chunks_of(bytes);
  const auto victim = std::find_if(chunks.begin(), chunks.end(), [](const Chunk& chunk) {
    return chunk.header.kind == static_cast<std::uint32_t>(ChunkKind::kOps);
  });
  bytes[victim->offset + 30] ^= 4;
  const NativeReport report = verify_native(bytes, "a.corun");
  EXPECT_EQ(report.rows, 40'000u);
  EXPECT_EQ(report.rows_lost(), victim->header.row_count);
  EXPECT_EQ(report.damage->byte, victim->offset);
  EXPECT_EQ(report.chunks_readable, chunks.size() - 1);
}

TEST(NativeDamage, AMissingOrRepeatedChunkIsNoticed) {
  const std::string bytes = encode_native(tiny_timeline());
  const std::vector<Chunk> chunks = chunks_of(bytes);
  for (std::size_t i = 1; i + 1 < chunks.size(); ++i) {
    const std::string chunk = bytes.substr(chunks[i].offset, chunks[i].end - chunks[i].offset);
    std::string without = bytes;
    EXPECT_TRUE(error_of_reading(without.erase(chunks[i].offset, chunk.size())).has_value()) << "chunk " << i;
    std::string twice = bytes;
    EXPECT_TRUE(error_of_reading(twice.insert(chunks[i].end, chunk)).has_value()) << "chunk " << i;
  }
  EXPECT_TRUE(error_of_reading(bytes + bytes).has_value()) << "bytes after the footer";
}

TEST(NativeDamage, NothingFollowsTheFooter) {
  std::string bytes = encode_native(tiny_timeline());
  const auto chunks = static_cast<std::uint32_t>(chunks_of(bytes).size());
  append_chunk(bytes, {.sequence = chunks, .kind = static_cast<std::uint32_t>(ChunkKind::kMarks)}, "");
  const std::optional<Error> error = error_of_reading(bytes);
  ASSERT_TRUE(error.has_value());
  EXPECT_HAS(error->message(), "a chunk after the footer");
}

TEST(NativeDamage, AFooterThatContradictsTheFileIsRefused) {
  std::string bytes = encode_native(tiny_timeline());
  const Chunk footer = chunks_of(bytes).back();
  bytes.resize(footer.offset);
  std::string payload = footer.payload;
  ++payload.back();
  append_chunk(bytes, footer.header, payload);
  const std::optional<Error> error = error_of_reading(bytes);
  ASSERT_TRUE(error.has_value());
  EXPECT_HAS(error->message(), "8 rows, expected 9 as the footer says");
}

// What a hostile author writes: chunks with right checksums and wrong content.
std::string with_chunk(ChunkHeader header, const std::string& payload) {
  std::string bytes = encode_native(TimelineBuilder{}.seal());
  bytes.resize(chunks_of(bytes).back().offset);
  header.sequence = 1;
  append_chunk(bytes, header, payload);
  return bytes;
}

TEST(NativeDamage, RowCountsBeyondTheLimitsAreRefusedBeforeAllocating) {
  const auto ops = static_cast<std::uint32_t>(ChunkKind::kOps);
  const auto error_with = [&](std::uint32_t rows) {
    return error_of_reading(with_chunk({.kind = ops, .row_count = rows}, ""));
  };
  EXPECT_HAS(error_with(UINT32_MAX)->message(), "4294967295 rows, expected at most");
  EXPECT_HAS(error_with(1)->message(), "queue 0") << "a row needs a queue";
}

TEST(NativeDamage, RowsOfAllChunksTogetherAreLimited) {
  std::string bytes = encode_native(TimelineBuilder{}.seal());
  bytes.resize(chunks_of(bytes).back().offset);
  const auto threads = static_cast<std::uint32_t>(ChunkKind::kThreads);
  append_chunk(bytes, {.sequence = 1, .kind = threads, .first_row = kMaxFileRows, .row_count = 1}, "");
  EXPECT_HAS(error_of_reading(bytes)->message(), "first row");
}

TEST(NativeDamage, ManyRowsNeedAByteEach) {
  EXPECT_EQ(max_rows_of(1'000), kMaxFreeRows);
  EXPECT_EQ(max_rows_of(100'000'000), 100'000'000u);
  EXPECT_EQ(max_rows_of(UINT64_MAX), kMaxFileRows);
}

TEST(NativeDamage, APayloadThatIsNoMessageIsRefused) {
  const auto error =
      error_of_reading(with_chunk({.kind = static_cast<std::uint32_t>(ChunkKind::kOps)}, "\xFF\xFF\xFF"));
  ASSERT_TRUE(error.has_value());
  EXPECT_HAS(error->message(), "payload of 3 bytes");
}

TEST(NativeDamage, AColumnOfAnotherLengthIsRefused) {
  const std::string three_durations{"\x12\x03\x01\x02\x03", 5};
  const auto error = error_of_reading(
      with_chunk({.kind = static_cast<std::uint32_t>(ChunkKind::kOps), .row_count = 2}, three_durations));
  ASSERT_TRUE(error.has_value());
  EXPECT_HAS(error->message(), "column duration_ns of 3 values, expected 0, 1 or 2");
}

TEST(NativeDamage, AChunkOfALaterVersionIsSkippedWithANote) {
  const Timeline timeline = read_native(with_chunk({.kind = 99}, "who knows"), "a.corun");
  EXPECT_HAS(timeline.provenance().notes.front(), "kind 99");
}

TEST(NativeDamage, AFileOfALaterVersionIsNotRead) {
  std::string bytes;
  append_chunk(bytes, {.kind = static_cast<std::uint32_t>(ChunkKind::kMeta)}, std::string{"\x08\x63", 2});
  const std::optional<Error> error = error_of_reading(bytes);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::kUnsupported);
  EXPECT_HAS(error->message(), "format version 99, expected 1");
}

TEST(NativeDamage, RecordsLostWhileCapturingAreCounted) {
  const Timeline timeline =
      read_native(with_chunk({.kind = static_cast<std::uint32_t>(ChunkKind::kOps), .lost_before = 12}, ""), "a.corun");
  EXPECT_EQ(timeline.provenance().skipped.at("lost while capturing"), 12u);
}

}  // namespace
}  // namespace corun
