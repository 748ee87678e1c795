// Numbers in the tables of an Nsight Systems export: kinds of copies, devices, ranges.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

/// An export of these statements, beside the table by which it is known.
Timeline nsys_export(std::string_view sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &handle), SQLITE_OK);
  char* error = nullptr;
  const std::string all = "CREATE TABLE META_DATA_EXPORT(name,value);" + std::string{sql};
  EXPECT_EQ(sqlite3_exec(handle, all.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(handle, "main", &size, 0);
  std::string content{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  sqlite3_free(bytes);
  sqlite3_close(handle);
  return import_text("nsys", std::move(content));
}

TEST(NsysRows, EveryKindOfCopyHasItsDirectionAndName) {
  struct Copy {
    OpKind kind;
    std::string_view name;
  };
  constexpr Copy kCopies[] = {{OpKind::kCopyDeviceToDevice, "Memcpy"},
                              {OpKind::kCopyHostToDevice, "Memcpy HtoD"},
                              {OpKind::kCopyDeviceToHost, "Memcpy DtoH"},
                              {OpKind::kCopyHostToDevice, "Memcpy HtoA"},
                              {OpKind::kCopyDeviceToHost, "Memcpy AtoH"},
                              {OpKind::kCopyDeviceToDevice, "Memcpy AtoA"},
                              {OpKind::kCopyDeviceToDevice, "Memcpy AtoD"},
                              {OpKind::kCopyDeviceToDevice, "Memcpy DtoA"},
                              {OpKind::kCopyDeviceToDevice, "Memcpy DtoD"},
                              {OpKind::kCopyHostToDevice, "Memcpy HtoH"},
                              {OpKind::kCopyPeer, "Memcpy PtoP"},
                              {OpKind::kCopyHostToDevice, "Memcpy unified HtoD"},
                              {OpKind::kCopyDeviceToHost, "Memcpy unified DtoH"},
                              {OpKind::kCopyDeviceToDevice, "Memcpy unified DtoD"},
                              {OpKind::kCopyDeviceToDevice, "Memcpy"},  // 14: of no kind that is known
                              {OpKind::kCopyDeviceToDevice, "Memcpy"}};
  std::string rows;
  for (std::size_t kind = 0; kind < std::size(kCopies); ++kind)
    rows += fmt::format("{}({},{},0,1,7,{},64,{})", kind > 0 ? "," : "", 10 * kind + 1, 10 * kind + 2, kind + 1, kind);
  const Timeline timeline = nsys_export(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,bytes,copyKind);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES" +
      rows + ";");
  ASSERT_EQ(timeline.ops().size(), std::size(kCopies));
  for (std::size_t kind = 0; kind < std::size(kCopies); ++kind) {
    EXPECT_EQ(timeline.ops()[kind].kind, kCopies[kind].kind) << kind;
    EXPECT_EQ(timeline.text(timeline.ops()[kind].name), kCopies[kind].name) << kind;
  }
}

TEST(NsysRows, CopyToPageableMemoryOfTheHostBlocksItsCall) {
  // Of a copy from the device to pageable memory (0), to pinned memory (1), and of one to the device.
  const Timeline timeline = nsys_export(
      "CREATE TABLE StringIds(id INTEGER, value TEXT);INSERT INTO StringIds VALUES (1,'cudaMemcpyAsync_v3020');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start,end,globalTid,correlationId,nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,5,1,1),(3,4,5,2,1),(5,6,5,3,1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,"
      "copyKind,dstKind);INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
      "(11,12,0,1,7,1,0,64,2,0),(13,14,0,1,7,2,0,64,2,1),(15,16,0,1,7,3,0,64,1,0);");
  ASSERT_EQ(timeline.calls().size(), 3U);
  EXPECT_EQ(timeline.calls()[0].kind, CallKind::kBlockingCopy);
  EXPECT_EQ(timeline.calls()[1].kind, CallKind::kLaunch);
  EXPECT_EQ(timeline.calls()[2].kind, CallKind::kLaunch);
}

TEST(NsysRows, DevicesComeInTheOrderOfTheirNumbersWithTheirResources) {
  const Timeline timeline = nsys_export(
      "CREATE TABLE TARGET_INFO_GPU(id,name,smCount,totalMemory,maxWarpsPerSm,threadsPerWarp,maxRegistersPerSm,"
      "maxShmemPerSm);INSERT INTO TARGET_INFO_GPU VALUES (1,'second',80,16,48,32,7,9),"
      "(0,'first',132,150109880320,64,32,65536,233472);");
  ASSERT_EQ(timeline.provenance().devices.size(), 2U);
  const CapturedDevice& first = timeline.provenance().devices[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.sm_count, 132U);
  EXPECT_EQ(first.memory_bytes, 150'109'880'320U);
  EXPECT_EQ(first.max_threads_per_sm, 2048U);
  EXPECT_EQ(first.registers_per_sm, 65'536U);
  EXPECT_EQ(first.shared_memory_per_sm_bytes, 233'472U);
  EXPECT_EQ(timeline.provenance().devices[1].max_threads_per_sm, 1536U);
}

TEST(NsysRows, DevicesWithoutNumbersComeAsTheyStand) {
  const Timeline timeline =
      nsys_export("CREATE TABLE TARGET_INFO_GPU(name,smCount);INSERT INTO TARGET_INFO_GPU VALUES ('b',1),('a',2);");
  ASSERT_EQ(timeline.provenance().devices.size(), 2U);
  EXPECT_EQ(timeline.provenance().devices[0].name, "b");
  EXPECT_EQ(timeline.provenance().devices[1].sm_count, 2U);
}

TEST(NsysRows, TimesFromNothingTo2To60NanosecondsAreTaken) {
  const Timeline timeline = nsys_export(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5,5,0,1,7),(0,3,0,1,7),(6,1152921504606846976,0,1,7),"
      "(7,1152921504606846977,0,1,7),(9,8,0,1,7);");
  ASSERT_EQ(timeline.ops().size(), 3U);
  EXPECT_EQ(timeline.ops()[1].duration_ns, 0);
  EXPECT_EQ(timeline.ops()[2].duration_ns, (std::int64_t{1} << 60) - 6);
  EXPECT_EQ(timeline.provenance().skipped.at("row that ends before it starts"), 2U);
}

TEST(NsysRows, KernelIsCalledByTheFirstNameThatItHas) {
  const Timeline timeline = nsys_export(
      "CREATE TABLE StringIds(id INTEGER, value TEXT);INSERT INTO StringIds VALUES (1,'long'),(2,'short'),(3,'raw');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,demangledName,shortName,mangledName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,1,2,3),(3,4,NULL,2,3),(5,6,NULL,99,3),(7,8,NULL,NULL,NULL);");
  ASSERT_EQ(timeline.ops().size(), 4U);
  const std::string_view names[] = {"long", "short", "raw", ""};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(timeline.text(timeline.ops()[i].name), names[i]);
}

TEST(NsysRows, GraphicsWorkIsNamedByItsTextItsCallOrItsTable) {
  const Timeline timeline = nsys_export(
      "CREATE TABLE StringIds(id INTEGER, value TEXT);INSERT INTO StringIds VALUES (1,'shadows'),(2,'vkCmdDraw');"
      "CREATE TABLE DX12_WORKLOAD(start,end,gpu,longContextId,globalTid,nameId,textId);"
      "INSERT INTO DX12_WORKLOAD VALUES (1,2,1,77,50331653,2,1),(3,4,1,77,50331653,2,NULL),(5,6,1,77,50331653,9,9);");
  ASSERT_EQ(timeline.ops().size(), 3U);
  const std::string_view names[] = {"shadows", "vkCmdDraw", "DX12_WORKLOAD"};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(timeline.text(timeline.ops()[i].name), names[i]);
  EXPECT_EQ(timeline.queues()[timeline.ops()[0].queue], (QueueRecord{.device = 1, .context = 77, .process = 3}));
}

TEST(NsysRows, CaptureWithoutAStartHasAClockOfItsOwn) {
  for (const std::string_view epoch : {"0", "1"}) {
    const Timeline timeline = nsys_export(fmt::format(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end);INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5,6);"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES "
        "({});",
        epoch));
    EXPECT_EQ(timeline.provenance().clock, epoch == "0" ? "capture_start" : "unix_epoch");
    EXPECT_EQ(timeline.provenance().origin_ns, epoch == "0" ? 5 : 6);
  }
}

}  // namespace
}  // namespace corun
