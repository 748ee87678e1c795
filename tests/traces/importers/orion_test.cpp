#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

constexpr const char* kHeader = "Name,Profile,Memory_footprint,SM_usage,Duration\n";

TEST(Orion, LaysKernelsBackToBackAndSaysThatTimesAreMadeUp) {
  const Timeline timeline = import_text("orion", kHeader + std::string{"Conv,1,0,98,100480\nBatchNorm,0,0,64,40480\n"});
  ASSERT_EQ(timeline.ops().size(), 2U);
  EXPECT_EQ(timeline.ops()[1].start_ns, 100480);
  EXPECT_EQ(timeline.ops()[1].duration_ns, 40480);
  EXPECT_EQ(timeline.text(timeline.ops()[0].name), "Conv");
  EXPECT_EQ(timeline.shapes()[timeline.ops()[0].shape].blocks(), 98U);
  EXPECT_EQ(timeline.shapes()[timeline.ops()[0].shape].threads_per_block(), 0U);
  EXPECT_FALSE(timeline.fidelity().has_times);
  EXPECT_EQ(timeline.provenance().clock, "capture_start");
}

TEST(Orion, TakesQuotationMarksOffNamesOfOneCharacterToo) {
  const Timeline timeline = import_text("orion", kHeader + std::string{"\"k\",1,0,98,100480\n\"a,b\",1,0,98,7\n"});
  ASSERT_EQ(timeline.ops().size(), 2U);
  EXPECT_EQ(timeline.text(timeline.ops()[0].name), "k");
  EXPECT_EQ(timeline.text(timeline.ops()[1].name), "a,b");
}

TEST(Orion, KeepsUnquotedCommasInNames) {
  const Timeline timeline = import_text("orion", kHeader + std::string{"void f<int, 4>(a, b),-1,0,2,3232\n"});
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.text(timeline.ops()[0].name), "void f<int, 4>(a, b)");
  EXPECT_EQ(timeline.ops()[0].duration_ns, 3232);
}

TEST(Orion, CountsRowsWithoutFourNumbers) {
  const Timeline timeline = import_text("orion", kHeader + std::string{"a,1,2,3,4\nb,1,2,3\n,1,2,3,x\nc,1,0,-3,4\n"});
  EXPECT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(skipped(timeline), 3U);
}

TEST(Orion, NotesPlaceholderDurations) {
  std::string text = kHeader;
  for (int i = 0; i < 10; ++i) text += "Conv,-1,1,1,7\n";
  EXPECT_TRUE(notes_mention(import_text("orion", text), "placeholders"));
}

TEST(Orion, EightEqualDurationsAreTakenForPlaceholders) {
  const auto is_noted = [](int rows, const char* last) {
    std::string text = kHeader;
    for (int i = 1; i < rows; ++i) text += "Conv,-1,1,1,7\n";
    return notes_mention(import_text("orion", text + "Conv,-1,1,1," + last + "\n"), "Every duration is 7 ns");
  };
  EXPECT_TRUE(is_noted(8, "7"));
  EXPECT_FALSE(is_noted(7, "7"));
  EXPECT_FALSE(is_noted(8, "8"));
}

TEST(Orion, KernelsOfNoSmAndNoTimeAreTakenAndNegativeOnesAreNot) {
  const Timeline timeline = import_text(
      "orion", kHeader + std::string{"a,1,0,0,0\nb,1,0,-1,5\nc,1,0,3,-1\nd,1,0,3,1152921504606846976\ne,1,0,3,1\n"});
  ASSERT_EQ(timeline.ops().size(), 2U) << "after d no clock goes on";
  EXPECT_EQ(timeline.ops()[0].duration_ns, 0);
  EXPECT_EQ(timeline.ops()[1].duration_ns, std::int64_t{1} << 60);
  EXPECT_EQ(skipped(timeline), 3U);
}

TEST(Orion, IsRecognisedByItsHeader) {
  EXPECT_EQ(sniffed(kHeader), "orion");
  EXPECT_NE(import_error("orion", "a,b\n").find("capture.txt:1: the first line is no header"), std::string::npos);
}

}  // namespace
}  // namespace corun
