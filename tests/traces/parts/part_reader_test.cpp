#include "traces/parts/part_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/part_builder.h"
#include "tests/support/tiny_timelines.h"
#include "traces/base/error.h"
#include "traces/native/native.h"

namespace corun {
namespace {

using part::RecordType;
using testing::PartBuilder;
using testing::some_process;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

part::KernelRecord kernel(std::int64_t start_ns, std::int64_t end_ns) {
  part::KernelRecord record{};
  record.start_ns = start_ns;
  record.end_ns = end_ns;
  return record;
}

// Three chunks: the process with its program; two kernels and a loss; the end.
std::string small_part() {
  PartBuilder part{some_process(), "train"};
  part.flush();
  part.add(RecordType::kKernel, kernel(10, 20)).add(RecordType::kKernel, kernel(30, 40));
  part.lost(part::LossReason::kRingFull, 3).flush();
  return part.end().bytes();
}

TEST(PartReader, EveryTypeOfRecordArrives) {
  PartBuilder part{some_process(part::Source::kVulkan, part::Detail::kNone, 7), "vkcube"};
  part.add(RecordType::kDevice, part::DeviceRecord{.sm_count = 132})
      .add(RecordType::kContext, part::ContextRecord{.context = 2})
      .add(RecordType::kStream, part::StreamRecord{.stream = 3})
      .add(RecordType::kKernel, kernel(4, 5))
      .add(RecordType::kCopy, part::CopyRecord{.bytes = 6})
      .add(RecordType::kMemset, part::MemsetRecord{.bytes = 7})
      .add(RecordType::kCall, part::CallRecord{.start_ns = 8})
      .add(RecordType::kSync, part::SyncRecord{.start_ns = 9})
      .add(RecordType::kEventRecord, part::EventRecord{.event = 10})
      .add(RecordType::kOverhead, part::OverheadRecord{.start_ns = 11})
      .add(RecordType::kContextSwitch, part::ContextSwitchRecord{.at_ns = 12})
      .add(RecordType::kMark, part::MarkRecord{.end_ns = 18})
      .add(RecordType::kSwapchain, part::SwapchainRecord{.width = 13})
      .add(RecordType::kVisit, part::VisitRecord{.submit_ns = 14})
      .add(RecordType::kFrame, part::FrameRecord{.frame = 15})
      .add(RecordType::kLaunchCount, part::LaunchCountRecord{.launches = 16})
      .lost(part::LossReason::kNoQuery, 17)
      .end(part::EndReason::kWindow);
  const PartContent content = read_part(part.bytes(), "a.part");
  EXPECT_EQ(content.process.process, 7u);
  EXPECT_EQ(content.texts.at(content.process.program), "vkcube");
  EXPECT_EQ(content.devices.at(0).sm_count, 132u);
  EXPECT_EQ(content.contexts.at(0).context, 2u);
  EXPECT_EQ(content.streams.at(0).stream, 3u);
  EXPECT_EQ(content.kernels.at(0).end_ns, 5);
  EXPECT_EQ(content.copies.at(0).bytes, 6u);
  EXPECT_EQ(content.memsets.at(0).bytes, 7u);
  EXPECT_EQ(content.calls.at(0).start_ns, 8);
  EXPECT_EQ(content.syncs.at(0).start_ns, 9);
  EXPECT_EQ(content.event_records.at(0).event, 10u);
  EXPECT_EQ(content.overheads.at(0).start_ns, 11);
  EXPECT_EQ(content.context_switches.at(0).at_ns, 12);
  EXPECT_EQ(content.marks.at(0).end_ns, 18);
  EXPECT_EQ(content.swapchains.at(0).width, 13u);
  EXPECT_EQ(content.visits.at(0).submit_ns, 14);
  EXPECT_EQ(content.frames.at(0).frame, 15u);
  EXPECT_EQ(content.launch_counts.at(0).launches, 16u);
  EXPECT_EQ(content.lost.at(part::LossReason::kNoQuery), 17u);
  ASSERT_TRUE(content.end.has_value());
  EXPECT_EQ(content.end->reason, part::EndReason::kWindow);
  EXPECT_EQ(content.damage, "");
}

TEST(PartReader, RecordsOfLaterVersionsAreSkippedByTheirSize) {
  PartBuilder part;
  part.add(static_cast<RecordType>(99), part::LostRecord{});
  part.add(RecordType::kKernel, kernel(1, 2), "grown by this").add(RecordType::kKernel, kernel(3, 4));
  const PartContent content = read_part(part.bytes(), "a.part");
  EXPECT_EQ(content.unknown_records, 1u);
  ASSERT_EQ(content.kernels.size(), 2u);
  EXPECT_EQ(content.kernels[1].end_ns, 4);
  EXPECT_EQ(content.damage, "");
}

TEST(PartReader, ANewerVersionIsRefused) {
  part::ProcessRecord process = some_process();
  process.version = 3;
  try {
    read_part(PartBuilder{process}.bytes(), "a.part");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_EQ(error.where().file, "a.part");
  }
}

TEST(PartReader, APartOfAKilledProcessHasNoEndAndIsNotDamaged) {
  const PartContent content = read_part(PartBuilder{}.bytes(), "a.part");
  EXPECT_FALSE(content.end.has_value());
  EXPECT_EQ(content.damage, "");
}

TEST(PartReader, EveryCutKeepsTheWholeChunksAndNamesTheTornOne) {
  const std::string bytes = small_part();
  std::vector<std::uint64_t> ends;
  ChunkReader chunks{bytes};
  while (const auto chunk = chunks.next()) ends.push_back(chunk->end);
  ASSERT_EQ(ends.size(), 3u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    if (size < ends[0]) {
      EXPECT_THROW(read_part(cut, "a.part"), Error) << size;
      continue;
    }
    const PartContent content = read_part(cut, "a.part");
    EXPECT_EQ(content.kernels.size(), size < ends[1] ? 0u : 2u) << size;
    EXPECT_FALSE(content.end.has_value()) << size;
    const bool is_whole = size == ends[0] || size == ends[1];
    EXPECT_EQ(content.damage.empty(), is_whole) << size << ": " << content.damage;
    if (is_whole) continue;
    EXPECT_HAS(content.damage, size < ends[1] ? "chunk 2, byte " : "chunk 3, byte ");
  }
}

TEST(PartReader, AChunkThatIsMissingInTheMiddleIsNoticed) {
  std::string bytes = small_part();
  ChunkReader chunks{bytes};
  chunks.next();
  const auto second = chunks.next();
  bytes.erase(second->offset, second->end - second->offset);
  const PartContent content = read_part(bytes, "a.part");
  EXPECT_HAS(content.damage, "chunk 2, expected 1");
  EXPECT_FALSE(content.end.has_value());
}

TEST(PartReader, EveryFlippedBitIsNoticedAndNeverBelieved) {
  const std::string bytes = small_part();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    try {
      const PartContent content = read_part(damaged, "a.part");
      EXPECT_NE(content.damage, "") << "bit " << bit;
      EXPECT_TRUE(content.kernels.empty() || content.kernels.size() == 2) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.where().file, "a.part");
    }
  }
}

TEST(PartReader, SizesOfRecordsAreNotTrusted) {
  const auto damage_of = [](std::uint16_t type, std::uint16_t size, std::size_t length) {
    std::string record(length, '\0');
    const part::RecordHead head{static_cast<RecordType>(type), size, 0};
    record.replace(0, sizeof(head), reinterpret_cast<const char*>(&head), sizeof(head));
    PartBuilder part;
    part.flush().raw(record);
    return read_part(part.bytes(), "a.part").damage;
  };
  EXPECT_HAS(damage_of(6, 0, 88), "a record of 0 bytes");
  EXPECT_HAS(damage_of(6, 12, 88), "a record of 12 bytes");
  EXPECT_HAS(damage_of(6, 96, 88), "a record of 96 bytes with 88 bytes left");
  EXPECT_HAS(damage_of(6, 80, 80), "a kernel record of 80 bytes, expected at least 88");
}

TEST(PartReader, RandomRecordsAreAnErrorOrDamageAndNeverACrash) {
  std::mt19937 random{3};
  for (int i = 0; i < 500; ++i) {
    std::string noise(random() % 40 * 8, '\0');
    for (char& byte : noise) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 20);
    PartBuilder part;
    part.raw(noise);
    EXPECT_EQ(read_part(PartBuilder{}.flush().raw(noise).bytes(), "a.part").process.process, 100u);
    try {
      read_part(part.bytes(), "a.part");
    } catch (const Error& error) {
      EXPECT_EQ(error.where().file, "a.part");
    }
  }
}

TEST(PartReader, APartAndATimelineAreToldApart) {
  EXPECT_TRUE(is_part(small_part()));
  EXPECT_FALSE(is_part(encode_native(testing::tiny_timeline())));
  EXPECT_FALSE(is_part(""));
  EXPECT_EQ(make_native_importer()->sniff({.path = "a.part", .bytes = small_part()}), 0);
}

}  // namespace
}  // namespace corun
