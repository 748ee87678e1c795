#include "traces/native/native.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <span>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_timelines.h"
#include "traces/base/error.h"
#include "traces/native/chunk.h"
#include "traces/native/native_scan.h"

namespace corun {
namespace {

using testing::periodic_kernels;
using testing::tiny_timeline;

Timeline round_trip(const Timeline& timeline) { return read_native(encode_native(timeline), "a.corun"); }

TEST(Native, EveryFieldSurvives) { EXPECT_EQ(round_trip(tiny_timeline()), tiny_timeline()); }

TEST(Native, AnEmptyTimelineSurvives) { EXPECT_EQ(round_trip(TimelineBuilder{}.seal()), TimelineBuilder{}.seal()); }

TEST(Native, RowsOfManyChunksSurvive) {
  const Timeline timeline = periodic_kernels(30'000, 10'000, 4'000);
  EXPECT_EQ(round_trip(timeline), timeline);
  EXPECT_GT(verify_native(encode_native(timeline), "a.corun").chunks, 8u);
}

TEST(Native, ExtremesOfEveryFieldSurvive) {
  TimelineBuilder b;
  b.queue({.device = UINT32_MAX,
           .context = UINT64_MAX,
           .stream = UINT64_MAX,
           .process = UINT64_MAX,
           .priority = INT32_MIN});
  b.queue({.priority = INT32_MAX});
  b.thread({.process = UINT64_MAX, .thread = UINT64_MAX});
  b.shape({UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX});
  b.swapchain({.application = b.intern(std::string("zero \0 inside", 13)), .process = UINT64_MAX});
  b.intern("");
  b.intern(std::string(64u << 10, 'n'));
  b.intern("not UTF-8: \xFF\xFE");
  b.add(OpRecord{.start_ns = 0, .graph_node = UINT64_MAX});
  b.add(OpRecord{.start_ns = INT64_MAX / 4,
                 .duration_ns = INT64_MAX / 4,
                 .kind = OpKind::kRender,
                 .shape = 0,
                 .bytes = UINT64_MAX,
                 .graph_node = 1});
  b.add(FrameRecord{
      .present_ns = 1, .interval_ns = 0, .submit_ns = 0, .gpu_end_ns = INT64_MAX / 4, .visits = UINT32_MAX});
  b.add(FrameRecord{.present_ns = 2});
  b.fidelity().has_durations = false;
  const Timeline timeline = std::move(b).seal();
  EXPECT_EQ(round_trip(timeline), timeline);
}

TEST(Native, TheSameTimelineGivesTheSameBytes) {
  EXPECT_EQ(encode_native(tiny_timeline()), encode_native(tiny_timeline()));
  EXPECT_EQ(encode_native(round_trip(tiny_timeline())), encode_native(tiny_timeline()));
}

TEST(Native, ANameBeyondTheLimitIsRefusedWhenWriting) {
  TimelineBuilder b;
  b.intern(std::string((64u << 10) + 1, 'n'));
  const Timeline timeline = std::move(b).seal();
  EXPECT_THROW(encode_native(timeline), Error);
}

TEST(Native, AFileOnDiskReadsBackAndIsNotOverwrittenByAccident) {
  const testing::TemporaryFolder folder;
  write_native(tiny_timeline(), folder / "a.corun", false);
  EXPECT_EQ(read_native(read_source(folder / "a.corun").bytes, "a.corun"), tiny_timeline());
  EXPECT_THROW(write_native(tiny_timeline(), folder / "a.corun", false), Error);
  write_native(periodic_kernels(3, 10, 5), folder / "a.corun", true);
  EXPECT_EQ(verify_native(folder / "a.corun").rows, 6u);
}

TEST(Native, PowerIsKnownFromTheBeginningOfAFile) {
  const testing::TemporaryFolder folder;
  TimelineBuilder builder;
  builder.provenance().power = {{.device = 0, .watts = 690, .sm_mhz = 1845}};
  write_native(std::move(builder).seal(), folder / "a.corun", false);
  write_native(tiny_timeline(), folder / "without.corun", false);
  EXPECT_EQ(recorded_power(folder / "a.corun").at(0).watts, 690);
  EXPECT_TRUE(recorded_power(folder / "without.corun").empty());
  EXPECT_TRUE(recorded_power(folder / "absent.corun").empty());
  EXPECT_TRUE(recorded_power("/").empty());
}

TEST(Native, AGoodFileIsReportedWhole) {
  const NativeReport report = verify_native(encode_native(tiny_timeline()), "a.corun");
  EXPECT_TRUE(report.has_footer);
  EXPECT_FALSE(report.damage.has_value());
  EXPECT_EQ(report.chunks, report.chunks_readable);
  EXPECT_EQ(report.chunks, report.chunks_before_damage);
  EXPECT_EQ(report.rows, 8u) << "3 operations, 3 calls, 1 frame, 1 mark";
  EXPECT_EQ(report.rows_before_damage, 8u);
  EXPECT_EQ(report.rows_lost(), 0u);
  EXPECT_EQ(report.end_before_damage_ns, 61'000);
}

/// Has no memory for what a file announces.
struct Cramped : RowSink {
  void reserve(std::size_t, std::size_t) override { throw std::bad_alloc(); }
  void add(std::span<const OpRecord> more) override { ops += more.size(); }
  void add(std::span<const CallRecord>) override {}
  RowSpan span() const override { return {}; }
  std::size_t ops = 0;
};

TEST(Native, WhatAFileAnnouncesIsNotNeededToReadIt) {
  const std::string bytes = encode_native(periodic_kernels(30'000, 10'000, 4'000));
  Cramped rows;
  TimelineBuilder builder;
  builder.divert(rows);
  EXPECT_FALSE(scan_native(bytes, "announced.corun", builder).damage);
  EXPECT_EQ(rows.ops, 30'000u);
}

TEST(Native, HeadersAnnounceTheRowsUpToTheFirstDamagedOne) {
  const std::string bytes = encode_native(periodic_kernels(30'000, 10'000, 4'000));
  EXPECT_EQ(announced_rows(bytes)[static_cast<std::size_t>(ChunkKind::kOps)], 30'000u);
  const RowCounts of_half = announced_rows(std::string_view(bytes).substr(0, bytes.size() / 2));
  const std::uint64_t before = of_half[static_cast<std::size_t>(ChunkKind::kOps)];
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, 30'000u);
  EXPECT_EQ(announced_rows("no chunk"), RowCounts{});
}

TEST(Native, TheImporterKnowsItsOwnFilesAndNoOthers) {
  const auto importer = make_native_importer();
  EXPECT_EQ(importer->name(), "corun");
  const auto sniff = [&](std::string bytes) { return importer->sniff({.path = "x", .bytes = std::move(bytes)}); };
  EXPECT_EQ(sniff(encode_native(tiny_timeline())), 100);
  EXPECT_EQ(sniff(""), 0);
  EXPECT_EQ(sniff("{\"traceEvents\": []}"), 0);
  EXPECT_EQ(sniff("\nApplication,ProcessID"), 0);
  EXPECT_EQ(sniff(std::string("SQLite format 3\0", 16)), 0);
}

TEST(Native, TheImporterReadsWhatWasWritten) {
  SourceFile source{.path = "a.corun", .bytes = encode_native(tiny_timeline())};
  EXPECT_EQ(make_native_importer()->read(source), tiny_timeline());
}

}  // namespace
}  // namespace corun
