#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

constexpr std::int64_t kGlobalPid = (std::int64_t{1} << 48) | (std::int64_t{144} << 24);
constexpr std::int64_t kGlobalTid = kGlobalPid | 147;

/// Bytes of a database made by these statements.
std::string database(std::string_view sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &handle), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, std::string{sql}.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(handle, "main", &size, 0);
  std::string content{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  sqlite3_free(bytes);
  sqlite3_close(handle);
  return content;
}

std::string strings() {
  return "CREATE TABLE StringIds(id INTEGER, value TEXT);"
         "INSERT INTO StringIds VALUES (1,'gemm<4>'),(2,'cudaLaunchKernel_v7000'),(3,'cudaStreamSynchronize_v3020'),"
         "(4,'cudaStreamWaitEvent_v3020'),(5,'step 1'),(6,'cudaGraphLaunch_v10000'),(7,'vkCmdDraw');";
}

std::string kernels(std::string_view rows) {
  return fmt::format(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId,correlationId,globalPid,"
      "demangledName,gridX,gridY,gridZ,blockX,blockY,blockZ,registersPerThread,staticSharedMemory,dynamicSharedMemory,"
      "graphNodeId);INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES {};",
      rows);
}

std::string kernel(std::int64_t start, std::int64_t end, int stream, int correlation, std::int64_t pid = kGlobalPid) {
  return fmt::format("({},{},0,1,{},{},{},1,8,4,2,32,2,1,40,16,1024,NULL)", start, end, stream, correlation, pid);
}

std::string calls(std::string_view rows) {
  return fmt::format(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start,end,globalTid,correlationId,nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES {};",
      rows);
}

std::string call(std::int64_t start, std::int64_t end, int correlation, int name, std::int64_t tid = kGlobalTid) {
  return fmt::format("({},{},{},{},{})", start, end, tid, correlation, name);
}

TEST(Nsys, EveryCutOfAnExportIsRefused) {
  std::string rows = kernel(0, 100, 7, 1);
  for (int i = 1; i < 300; ++i) rows += "," + kernel(i * 1000, i * 1000 + 100, 7, i + 1);
  const std::string whole = database(strings() + kernels(rows));
  ASSERT_EQ(import_text("nsys", whole).ops().size(), 300u);
  for (std::size_t cut = 1; cut < whole.size(); cut += 97)
    ASSERT_NE(import_error("nsys", whole.substr(0, whole.size() - cut)), "") << "without " << cut << " bytes";
  EXPECT_NE(import_error("nsys", whole.substr(0, whole.size() - 1)).find("the file is cut"), std::string::npos);
}

TEST(Nsys, ReadsKernelsWithShapeStreamProcessAndLaunch) {
  const Timeline timeline =
      import_text("nsys", database(strings() + kernels(kernel(2000, 2500, 7, 11)) + calls(call(1000, 1100, 11, 2)) +
                                   "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId,processId,contextId,priority);"
                                   "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7,144,1,4294967291);"
                                   "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
                                   "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1776781226557295056);"
                                   "CREATE TABLE META_DATA_EXPORT(name,value);"
                                   "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','3.24.14');"));
  ASSERT_EQ(timeline.ops().size(), 1U);
  const OpRecord& op = timeline.ops()[0];
  EXPECT_EQ(op.duration_ns, 500);
  EXPECT_EQ(timeline.text(op.name), "gemm<4>");
  EXPECT_EQ(timeline.shapes()[op.shape], (LaunchShape{8, 4, 2, 32, 2, 1, 40, 1040}));
  EXPECT_EQ(timeline.queues()[op.queue],
            (QueueRecord{.device = 0, .context = 1, .stream = 7, .process = 144, .priority = -5}));
  ASSERT_EQ(op.call, 0U);
  EXPECT_EQ(timeline.threads()[timeline.calls()[0].thread], (ThreadRecord{144, 147}));
  EXPECT_EQ(timeline.provenance().source_version, "3.24.14");
  EXPECT_EQ(timeline.provenance().clock, "unix_epoch");
  EXPECT_EQ(timeline.provenance().origin_ns, 1776781226557295056 + 1000);
}

TEST(Nsys, JoinsCallsWithinAProcessOnly) {
  const std::int64_t other = kGlobalPid + (std::int64_t{1} << 24);
  const Timeline timeline = import_text(
      "nsys", database(strings() + kernels(kernel(2000, 2500, 7, 11) + "," + kernel(3000, 3500, 7, 11, other)) +
                       calls(call(1000, 1100, 11, 2, other + 9))));
  ASSERT_EQ(timeline.ops().size(), 2U);
  EXPECT_EQ(timeline.ops()[0].call, OpRecord::kNoIndex);
  EXPECT_EQ(timeline.ops()[1].call, 0U);
}

TEST(Nsys, ReadsCopiesWithDirectionAndBytes) {
  const Timeline timeline = import_text(
      "nsys",
      database(
          "CREATE TABLE META_DATA_EXPORT(name,value);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,"
          "copyKind,dstKind,srcDeviceId,dstDeviceId);INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
          "(1,2,0,1,7,1,0,4096,1,2,NULL,NULL),(3,4,0,1,7,2,0,64,2,1,NULL,NULL),(5,6,0,1,7,3,0,64,8,2,0,1),"
          "(7,8,0,1,7,4,0,64,10,2,0,1),(9,10,0,1,7,5,0,64,8,2,0,0);"
          "CREATE TABLE "
          "CUPTI_ACTIVITY_KIND_MEMSET(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (11,12,0,1,7,6,0,512);"));
  ASSERT_EQ(timeline.ops().size(), 6U);
  const OpKind expected[] = {OpKind::kCopyHostToDevice, OpKind::kCopyDeviceToHost,   OpKind::kCopyPeer,
                             OpKind::kCopyPeer,         OpKind::kCopyDeviceToDevice, OpKind::kMemset};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(timeline.ops()[i].kind, expected[i]) << i;
  EXPECT_EQ(timeline.ops()[0].bytes, 4096U);
}

TEST(Nsys, KnowsToWhichNodesOfGraphsCopiesBelong) {
  const Timeline timeline = import_text(
      "nsys", database("CREATE TABLE META_DATA_EXPORT(name,value);CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,"
                       "deviceId,contextId,streamId,correlationId,globalPid,bytes,copyKind,dstKind,srcDeviceId,"
                       "dstDeviceId,graphNodeId);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,2,0,1,7,1,0,4096,8,2,0,0,4711),"
                       "(3,4,0,1,7,2,0,64,8,2,0,0,NULL);"));
  ASSERT_EQ(timeline.ops().size(), 2U);
  EXPECT_EQ(timeline.ops()[0].graph_node, 4711U);
  EXPECT_EQ(timeline.ops()[1].graph_node, 0U);
}

TEST(Nsys, NamesTheStreamsAndEventsOfWaits) {
  const std::string base =
      strings() + kernels(kernel(2000, 2500, 7, 11) + "," + kernel(2600, 2700, 9, 15)) +
      calls(call(1000, 1100, 11, 2) + "," + call(1200, 1210, 13, 4) + "," + call(1300, 1310, 15, 2) + "," +
            call(1400, 2800, 17, 3)) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start,end,deviceId,contextId,streamId,correlationId,globalPid,"
      "syncType,eventId,eventSyncId);" +
      fmt::format(
          "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1200,1210,0,1,9,13,{0},2,5,70),"
          "(1400,2800,0,1,9,17,{0},3,4294967295,0);",
          kGlobalPid);
  const std::string record = fmt::format(
      "CREATE TABLE "
      "CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId,contextId,streamId,correlationId,globalPid,eventId,eventSyncId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,1,7,12,{},5,70);",
      kGlobalPid);

  const Timeline named = import_text("nsys", database(base + record));
  ASSERT_EQ(named.calls().size(), 4U);
  EXPECT_EQ(named.calls()[1].kind, CallKind::kStreamWaitEvent);
  EXPECT_EQ(named.calls()[1].awaited, 0U);
  EXPECT_EQ(named.queues()[named.calls()[1].queue].stream, 9U);
  EXPECT_EQ(named.calls()[3].kind, CallKind::kSynchronizeStream);
  EXPECT_EQ(named.queues()[named.calls()[3].queue].stream, 9U);

  const Timeline unnamed = import_text("nsys", database(base));
  EXPECT_EQ(count_calls(unnamed, CallKind::kStreamWaitEvent), 0U);
  EXPECT_TRUE(notes_mention(unnamed, "1 waits of a stream"));
}

TEST(Nsys, TakesClosedNvtxRangesAsMarks) {
  const Timeline timeline = import_text(
      "nsys",
      database(strings() + kernels(kernel(2000, 2500, 7, 11)) +
               fmt::format(
                   "CREATE TABLE NVTX_EVENTS(start,end,eventType,text,textId,globalTid);INSERT INTO NVTX_EVENTS VALUES"
                   "(10,90,59,'forward',NULL,{0}),(20,80,60,NULL,5,{0}),(30,NULL,59,'open',NULL,{0}),"
                   "(40,NULL,34,'instant',NULL,{0}),(5,NULL,75,'domain',NULL,{0});",
                   kGlobalTid)));
  ASSERT_EQ(timeline.marks().size(), 2U);
  EXPECT_EQ(timeline.text(timeline.marks()[0].name), "forward");
  EXPECT_EQ(timeline.text(timeline.marks()[1].name), "step 1");
  EXPECT_EQ(skipped(timeline), 0U);
}

TEST(Nsys, SumsUpWhatIsAllocatedOnEachDeviceAtATime) {
  const Timeline timeline = import_text(
      "nsys", database(strings() + kernels(kernel(2000, 2500, 7, 11)) +
                       fmt::format("CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start,globalPid,deviceId,address,bytes,"
                                   "memKind,memoryOperationType);INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
                                   "(50,{0},0,4096,300,2,1),"  // the last: it is freed
                                   "(10,{0},0,4096,300,2,0),"
                                   "(20,{0},0,8192,500,3,0),"
                                   "(30,{0},0,8192,500,3,1),"
                                   "(40,{0},0,8192,200,5,0),"
                                   "(41,{0},0,9000,9999,1,0),"  // pinned, and
                                   "(42,{0},0,9001,9999,4,0),"  // managed memory
                                   "(60,{0},1,4096,70,2,0),(61,NULL,-1,1,1,2,0),(62,{0},0,1,-5,2,0);",
                                   kGlobalPid)));
  const std::vector<MemoryPeak> expected = {{0, 144, 800, MemorySource::kAllocated},
                                            {1, 144, 70, MemorySource::kAllocated}};
  EXPECT_EQ(timeline.memory_peaks(), expected);
}

TEST(Nsys, TakesAGraphTracedAsAWholeForOneKernelAndSaysSo) {
  const Timeline timeline = import_text(
      "nsys",
      database(strings() + calls(call(1000, 1100, 11, 6)) +
               fmt::format(
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start,end,deviceId,contextId,streamId,correlationId,"
                   "globalPid,graphId);INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (2000,9000,0,1,7,11,{},3);",
                   kGlobalPid)));
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.calls()[0].kind, CallKind::kGraphLaunch);
  EXPECT_TRUE(notes_mention(timeline, "whole CUDA graphs"));
}

TEST(Nsys, TakesGraphicsWorkAsRenderOperations) {
  const Timeline timeline = import_text(
      "nsys",
      database(strings() + fmt::format("CREATE TABLE VULKAN_WORKLOAD(start,end,globalTid,nameId,gpu,contextId,textId);"
                                       "CREATE TABLE META_DATA_EXPORT(name,value);"
                                       "INSERT INTO VULKAN_WORKLOAD VALUES (10,40,{},7,0,3,NULL);",
                                       kGlobalTid)));
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.ops()[0].kind, OpKind::kRender);
  EXPECT_EQ(timeline.text(timeline.ops()[0].name), "vkCmdDraw");
}

TEST(Nsys, CountsRowsWithoutUsableTimes) {
  const Timeline timeline = import_text(
      "nsys", database(strings() + kernels(kernel(2000, 2500, 7, 11) + "," + kernel(0, 0, 7, 12) + "," +
                                           kernel(9, 5, 7, 13) + ",(NULL,NULL,0,1,7,14,0,1,1,1,1,1,1,1,1,1,1,NULL)")));
  EXPECT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(skipped(timeline), 3U);
  EXPECT_EQ(timeline.provenance().skipped_examples[0],
            "capture.txt: CUPTI_ACTIVITY_KIND_KERNEL row 2: row whose time was not collected");
}

TEST(Nsys, ReadsAnExportLeftInWriteAheadForm) {
  std::string bytes = database(strings() + kernels(kernel(2000, 2500, 7, 11)));
  bytes[18] = bytes[19] = 2;
  EXPECT_EQ(import_text("nsys", bytes).ops().size(), 1U);
}

TEST(Nsys, DoesNotRunViewsOfTheFile) {
  const Timeline timeline = import_text("nsys", database("CREATE TABLE META_DATA_EXPORT(name,value);CREATE VIEW "
                                                         "CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 start, 2 end;"));
  EXPECT_TRUE(timeline.ops().empty());
}

TEST(Nsys, RefusesAnotherDatabaseAndADamagedOne) {
  EXPECT_NE(import_error("nsys", database("CREATE TABLE t(a);")).find("without any table of Nsight Systems, expected"),
            std::string::npos);
  std::string bytes = database(strings() + kernels(kernel(2000, 2500, 7, 11)));
  std::fill(bytes.begin() + 100, bytes.end(), '\x7f');
  EXPECT_NE(import_error("nsys", bytes).find("SQLite reports"), std::string::npos);
  EXPECT_NE(import_error("nsys", "no database at all").find("SQLite reports"), std::string::npos);
}

TEST(Nsys, IsRecognisedByItsMagic) { EXPECT_EQ(sniffed(database("CREATE TABLE t(a);")), "nsys"); }

}  // namespace
}  // namespace corun
