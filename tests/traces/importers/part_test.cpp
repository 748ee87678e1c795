#include <gtest/gtest.h>

#include <string>

#include "tests/support/part_builder.h"
#include "tests/traces/importers/import_text.h"
#include "traces/importers/importers.h"

namespace corun {
namespace {

using testing::PartBuilder;
using testing::some_process;

std::string one_kernel() {
  part::KernelRecord kernel{};
  kernel.start_ns = 1'000;
  kernel.end_ns = 4'000;
  PartBuilder part{some_process(), "train"};
  return part.add(part::RecordType::kKernel, kernel).end().bytes();
}

TEST(PartImporter, KnowsAPartByItsContent) { EXPECT_EQ(sniffed(one_kernel()), "part"); }

TEST(PartImporter, OnePartIsATimelineOfItsOwn) {
  const Timeline timeline =
      make_part_importer()->read({.path = "folder/7-1-cuda.part", .bytes = one_kernel(), .hash = "ab"});
  ASSERT_EQ(timeline.ops().size(), 1u);
  EXPECT_EQ(timeline.ops()[0].duration_ns, 3'000);
  EXPECT_EQ(timeline.provenance().source_file, "7-1-cuda.part");
  EXPECT_EQ(timeline.provenance().content_hash, "ab");
}

}  // namespace
}  // namespace corun
