#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

/// A profile of one GPU and its host, with these events.
std::string profile(const std::string& events) {
  return R"j({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},
{"ph":"M","pid":1,"tid":90,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},)j" +
         events + "\n{}]}";
}

constexpr const char* kKernel =
    R"j({"ph":"X","pid":1,"tid":14,"ts":30.5,"dur":63.180999999999997,"name":"gemm","args":{"correlation_id":"7",)j"
    R"j("cuda_graph_node_id":"5","kernel_details":"regs:154 static_shared:16 dynamic_shared:96 )j"
    R"j(grid:128,2,1 block:256,1,1 occ_pct:12.5"}},)j";
constexpr const char* kLaunch =
    R"j({"ph":"X","pid":701,"tid":3,"ts":10,"dur":5.25,"name":"cuGraphLaunch (CudaGraph:2)",)j"
    R"j("args":{"correlation_id":"7"}},)j";

TEST(Xla, ReadsKernelsWithTheirShapesAndTheCallsThatLaunchedThem) {
  const Timeline timeline = import_text("xla", profile(std::string(kKernel) + kLaunch));
  ASSERT_EQ(timeline.ops().size(), 1U);
  const OpRecord& op = timeline.ops()[0];
  EXPECT_EQ(op.duration_ns, 63'181);
  EXPECT_EQ(timeline.text(op.name), "gemm");
  EXPECT_EQ(op.graph_node, 5U);
  EXPECT_EQ(timeline.queues()[op.queue].stream, 14U);
  const LaunchShape& shape = timeline.shapes()[op.shape];
  EXPECT_EQ(shape.blocks(), 256U);
  EXPECT_EQ(shape.threads_per_block(), 256U);
  EXPECT_EQ(shape.registers_per_thread, 154U);
  EXPECT_EQ(shape.shared_memory_bytes, 112U);
  ASSERT_EQ(timeline.calls().size(), 1U);
  EXPECT_EQ(timeline.calls()[op.call].kind, CallKind::kGraphLaunch);
  EXPECT_EQ(op.start_ns - timeline.calls()[0].start_ns, 20'500);
}

TEST(Xla, LeavesOutWhatItsOwnLinesSayAgain) {
  const Timeline timeline = import_text(
      "xla",
      profile(std::string(kKernel) + R"j({"ph":"X","pid":1,"tid":90,"ts":30,"dur":60,"name":"fusion","args":{}},)j"));
  EXPECT_EQ(timeline.ops().size(), 1U) << "an operation of XLA is its kernels";
}

TEST(Xla, ReadsCopiesWithTheirDirectionAndSize) {
  const auto copy = [](const char* name, const char* details) {
    return fmt::format(
        R"j({{"ph":"X","pid":1,"tid":14,"ts":1,"dur":2,"name":"{}","args":{{"memcpy_details":"{}"}}}},)j", name,
        details);
  };
  const Timeline timeline =
      import_text("xla", profile(copy("MemcpyH2D", "kind_src:pageable kind_dst:device size:4096 dest:0 async:1") +
                                 copy("MemcpyD2H", "kind_src:device kind_dst:pinned size:8 dest:0 async:1")));
  ASSERT_EQ(timeline.ops().size(), 2U);
  EXPECT_EQ(timeline.ops()[0].kind, OpKind::kCopyHostToDevice);
  EXPECT_EQ(timeline.ops()[0].bytes, 4096U);
  EXPECT_EQ(timeline.ops()[1].kind, OpKind::kCopyDeviceToHost);
}

TEST(Xla, KeepsNamedStepsAndCallsOfJittedFunctionsAsMarks) {
  const Timeline timeline = import_text(
      "xla", profile(R"j({"ph":"X","pid":701,"tid":3,"ts":1,"dur":9,"name":"train","args":{"step_num":"4"}},)j"
                     R"j({"ph":"X","pid":701,"tid":3,"ts":2,"dur":5,"name":"PjitFunction(train)"},)j"
                     R"j({"ph":"X","pid":701,"tid":3,"ts":2,"dur":5,"name":"ParseArguments"},)j"));
  ASSERT_EQ(timeline.marks().size(), 2U);
  EXPECT_EQ(timeline.text(timeline.marks()[0].name), "train (step 4)");
  EXPECT_EQ(timeline.marks()[0].duration_ns, 9'000);
}

std::string operation(const char* name, const char* arguments, const char* times = R"("ts":1,"dur":2)") {
  return fmt::format(R"j({{"ph":"X","pid":1,"tid":14,{},"name":"{}","args":{{{}}}}},)j", times, name, arguments);
}

TEST(Xla, TellsMemsetsAndCopiesBetweenDevices) {
  const Timeline timeline = import_text(
      "xla", profile(operation("MemsetD32", R"("memset_details":"kind:device size:256 async:1")") +
                     operation("MemcpyD2D", R"("memcpy_details":"kind_src:device kind_dst:device size:7")") +
                     operation("MemcpyP2P", R"("memcpy_details":"size:9")") + operation("fusion", "")));
  ASSERT_EQ(timeline.ops().size(), 4U);
  const OpKind kinds[] = {OpKind::kMemset, OpKind::kCopyDeviceToDevice, OpKind::kCopyPeer, OpKind::kKernel};
  const std::uint64_t bytes[] = {256, 7, 9, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(timeline.ops()[i].kind, kinds[i]);
    EXPECT_EQ(timeline.ops()[i].bytes, bytes[i]);
  }
}

TEST(Xla, CopyIntoPageableMemoryBlocksItsCall) {
  for (const char* memory : {"pageable", "pinned"}) {
    const std::string details =
        fmt::format(R"("correlation_id":"7","memcpy_details":"kind_src:device kind_dst:{} size:8")", memory);
    const Timeline timeline =
        import_text("xla", profile(operation("MemcpyD2H", details.c_str(), R"("ts":30,"dur":2)") +
                                   R"j({"ph":"X","pid":701,"tid":3,"ts":10,"dur":5,"name":"cuMemcpyDtoHAsync_v2",)j"
                                   R"j("args":{"correlation_id":"7"}},)j"));
    ASSERT_EQ(timeline.calls().size(), 1U);
    EXPECT_EQ(timeline.calls()[0].kind == CallKind::kBlockingCopy, std::string_view{memory} == "pageable");
  }
}

TEST(Xla, TimesAreRoundedToNanosecondsAndNegativeOnesAreCounted) {
  const Timeline timeline = import_text(
      "xla", profile(operation("a", "", R"("ts":0,"dur":0.0016)") + operation("b", "", R"("ts":-1,"dur":2)") +
                     operation("c", "", R"("ts":3,"dur":-2)") + operation("d", "", R"("ts":1.1e15,"dur":2)")));
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.ops()[0].duration_ns, 2);
  EXPECT_EQ(timeline.provenance().skipped.at("event without a readable ts or dur"), 3U);
}

TEST(Xla, CountsEventsWithoutATime) {
  const Timeline timeline = import_text(
      "xla", profile(std::string(kKernel) + R"j({"ph":"X","pid":1,"tid":14,"ts":1,"name":"x","args":{}},)j"));
  EXPECT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(skipped(timeline), 1U);
}

TEST(Xla, IsRecognisedBeforeOtherChromeTraces) { EXPECT_EQ(sniffed(profile(kKernel)), "xla"); }

}  // namespace
}  // namespace corun
