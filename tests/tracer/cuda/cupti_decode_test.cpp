#include "tracer/cuda/cupti_decode.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "tracer/cuda/cupti_functions.h"

namespace corun::cupti {
namespace {

using Verdict = Decoded::Verdict;

template <class Record>
Decoded decode_whole(const Record& record) {
  return decode(reinterpret_cast<const Activity*>(&record), sizeof(record));
}

std::array<std::uint32_t, 3> three(std::uint32_t x, std::uint32_t y, std::uint32_t z) { return {x, y, z}; }

Kernel a_kernel() {
  Kernel kernel{};
  kernel.kind = Kind::kConcurrentKernel;
  kernel.start = 1000;
  kernel.end = 1300;
  kernel.device = 1;
  kernel.context = 2;
  kernel.stream = 7;
  kernel.grid_x = 8;
  kernel.grid_y = 4;
  kernel.grid_z = 2;
  kernel.block_x = 128;
  kernel.block_y = 2;
  kernel.block_z = 1;
  kernel.registers_per_thread = 40;
  kernel.static_shared_memory = 1024;
  kernel.dynamic_shared_memory = 512;
  kernel.correlation = 77;
  kernel.name = "gemm";
  kernel.graph_node = 0x100000005;
  kernel.graph = 9;
  return kernel;
}

TEST(CuptiDecode, AKernelKeepsEverythingThatReplayAsksFor) {
  const Decoded decoded = decode_whole(a_kernel());
  ASSERT_EQ(decoded.verdict, Verdict::kRecord);
  EXPECT_EQ(decoded.head.type, part::RecordType::kKernel);
  EXPECT_EQ(decoded.head.size, sizeof(part::KernelRecord));
  EXPECT_STREQ(decoded.name, "gemm");
  const part::KernelRecord& kernel = decoded.kernel;
  EXPECT_EQ(kernel.start_ns, 1000);
  EXPECT_EQ(kernel.end_ns, 1300);
  EXPECT_EQ(three(kernel.device, kernel.context, kernel.stream), three(1, 2, 7));
  EXPECT_EQ(three(kernel.grid_x, kernel.grid_y, kernel.grid_z), three(8, 4, 2));
  EXPECT_EQ(three(kernel.block_x, kernel.block_y, kernel.block_z), three(128, 2, 1));
  EXPECT_EQ(kernel.registers_per_thread, 40u);
  EXPECT_EQ(kernel.shared_memory_bytes, 1536u);
  EXPECT_EQ(kernel.correlation, 77u);
  EXPECT_EQ(kernel.graph_node, 0x100000005u);
  EXPECT_EQ(kernel.graph, 9u);
}

TEST(CuptiDecode, AKernelWithoutATimeIsKept) {
  Kernel kernel = a_kernel();
  kernel.start = kernel.end = 0;
  const Decoded decoded = decode_whole(kernel);
  EXPECT_EQ(decoded.verdict, Verdict::kRecord);
  EXPECT_EQ(decoded.kernel.start_ns, 0);
  EXPECT_EQ(decoded.kernel.end_ns, 0);
}

TEST(CuptiDecode, AKernelThatHasNotEndedHasNoTime) {
  Kernel kernel = a_kernel();
  kernel.end = 0;
  const Decoded decoded = decode_whole(kernel);
  EXPECT_EQ(decoded.verdict, Verdict::kRecord);
  EXPECT_EQ(decoded.kernel.start_ns, 0);
}

TEST(CuptiDecode, RecordsThatContradictThemselvesAreBad) {
  Kernel kernel = a_kernel();
  kernel.end = 999;
  EXPECT_EQ(decode_whole(kernel).verdict, Verdict::kBad);
  kernel = a_kernel();
  kernel.grid_x = 0;
  EXPECT_EQ(decode_whole(kernel).verdict, Verdict::kBad);
  kernel = a_kernel();
  kernel.dynamic_shared_memory = -1;
  EXPECT_EQ(decode_whole(kernel).verdict, Verdict::kBad);
  kernel = a_kernel();
  kernel.end = UINT64_MAX;
  EXPECT_EQ(decode_whole(kernel).verdict, Verdict::kBad);
}

TEST(CuptiDecode, ARecordCutOffIsBadAndNotReadBeyondItsEnd) {
  const Kernel kernel = a_kernel();
  for (std::size_t size = 0; size < sizeof(kernel); ++size) {
    // Exactly as much memory as there is record: AddressSanitizer sees any byte too far.
    const std::unique_ptr<std::uint8_t[]> cut(new std::uint8_t[size]);
    std::memcpy(cut.get(), &kernel, size);
    EXPECT_EQ(decode(reinterpret_cast<const Activity*>(cut.get()), size).verdict, Verdict::kBad) << size;
  }
}

TEST(CuptiDecode, UnknownKindsAreForeignAndNonsenseIsBad) {
  const auto verdict = [](std::uint32_t kind) { return decode_whole(Activity{static_cast<Kind>(kind)}).verdict; };
  EXPECT_EQ(verdict(51), Verdict::kForeign);
  EXPECT_EQ(verdict(99), Verdict::kForeign);
  EXPECT_EQ(verdict(0), Verdict::kBad);
  EXPECT_EQ(verdict(0xDEADBEEF), Verdict::kBad);
}

TEST(CuptiDecode, CopiesSayWhereFromAndWhereTo) {
  using enum part::CopyKind;
  const std::array expected = {
      kUnknown,        kHostToDevice,   kDeviceToHost,   kHostToDevice, kDeviceToHost, kDeviceToDevice,
      kDeviceToDevice, kDeviceToDevice, kDeviceToDevice, kHostToHost,   kPeer};
  for (std::uint8_t kind = 0; kind < expected.size(); ++kind) {
    Memcpy copy{};
    copy.kind = Kind::kMemcpy;
    copy.copy_kind = kind;
    copy.flags = kind % 2;
    copy.bytes = 4096;
    copy.start = 5;
    copy.end = 9;
    const Decoded decoded = decode_whole(copy);
    ASSERT_EQ(decoded.verdict, Verdict::kRecord);
    EXPECT_EQ(decoded.head.type, part::RecordType::kCopy);
    EXPECT_EQ(decoded.copy.kind, expected[kind]) << int{kind};
    EXPECT_EQ(decoded.copy.is_async, kind % 2u);
    EXPECT_EQ(decoded.copy.bytes, 4096u);
    EXPECT_EQ(decoded.copy.end_ns, 9);
  }
  Memcpy nonsense{};
  nonsense.kind = Kind::kMemcpy;
  nonsense.copy_kind = 11;
  EXPECT_EQ(decode_whole(nonsense).verdict, Verdict::kBad);
}

TEST(CuptiDecode, ACopyBetweenDevicesIsOne) {
  PeerCopy copy{};
  copy.kind = Kind::kPeerCopy;
  copy.copy_kind = kCopyDeviceToDevice;
  copy.bytes = 100;
  copy.start = 1;
  copy.end = 2;
  copy.correlation = 3;
  const Decoded decoded = decode_whole(copy);
  EXPECT_EQ(decoded.copy.kind, part::CopyKind::kPeer);
  EXPECT_EQ(decoded.copy.correlation, 3u);
}

TEST(CuptiDecode, AMemsetKeepsItsBytesAndQueue) {
  Memset memset{};
  memset.kind = Kind::kMemset;
  memset.bytes = 1 << 20;
  memset.start = 10;
  memset.end = 20;
  memset.stream = 13;
  memset.correlation = 5;
  const Decoded decoded = decode_whole(memset);
  EXPECT_EQ(decoded.head.type, part::RecordType::kMemset);
  EXPECT_EQ(decoded.memset.bytes, 1u << 20);
  EXPECT_EQ(decoded.memset.stream, 13u);
  EXPECT_EQ(decoded.memset.correlation, 5u);
}

Decoded a_call(Kind kind, std::uint32_t function) {
  Call call{};
  call.kind = kind;
  call.function = function;
  call.start = 100;
  call.end = 105;
  call.thread = 4242;
  call.correlation = 8;
  return decode_whole(call);
}

TEST(CuptiDecode, CallsHaveTheRoleOfTheirFunction) {
  using enum part::CallRole;
  EXPECT_EQ(a_call(Kind::kRuntime, 211).call.role, kLaunch);
  EXPECT_EQ(a_call(Kind::kRuntime, 311).call.role, kGraphLaunch);
  EXPECT_EQ(a_call(Kind::kRuntime, 165).call.role, kSynchronizeDevice);
  EXPECT_EQ(a_call(Kind::kRuntime, 131).call.role, kSynchronizeStream);
  EXPECT_EQ(a_call(Kind::kRuntime, 137).call.role, kSynchronizeEvent);
  EXPECT_EQ(a_call(Kind::kRuntime, 147).call.role, kStreamWaitEvent);
  EXPECT_EQ(a_call(Kind::kRuntime, 41).call.role, kCopy);
  EXPECT_EQ(a_call(Kind::kRuntime, 135).call.role, kRecordEvent);
  EXPECT_EQ(a_call(Kind::kRuntime, 20).call.role, kOther);
  EXPECT_EQ(a_call(Kind::kDriver, 307).call.role, kLaunch);
  EXPECT_EQ(a_call(Kind::kDriver, 211).call.role, kOther);
  const Decoded driver = a_call(Kind::kDriver, 652);
  EXPECT_EQ(driver.call.is_driver, 1);
  EXPECT_EQ(driver.call.thread, 4242u);
  EXPECT_EQ(driver.call.function, 652u);
  EXPECT_EQ(a_call(Kind::kRuntime, 211).call.is_driver, 0);
}

TEST(CuptiDecode, RangesOfFunctionsAreInOrder) {
  for (const auto functions : {runtime_functions(), driver_functions()}) {
    std::uint32_t last = 0;
    for (const FunctionRange& range : functions) {
      EXPECT_LT(last, range.first);
      EXPECT_LE(range.first, range.last);
      last = range.last;
    }
  }
}

TEST(CuptiDecode, DevicesContextsAndStreamsDescribeTheMachine) {
  Device device{};
  device.kind = Kind::kDevice;
  device.id = 1;
  device.memory_bytes = std::uint64_t{150} << 30;
  device.sm_count = 132;
  device.warps_per_sm = 64;
  device.threads_per_warp = 32;
  device.registers_per_sm = 65536;
  device.shared_memory_per_sm = 233472;
  device.uuid[15] = 0xAB;
  device.name = "a device";
  Decoded decoded = decode_whole(device);
  EXPECT_EQ(decoded.device.max_threads_per_sm, 2048u);
  EXPECT_EQ(decoded.device.sm_count, 132u);
  EXPECT_EQ(decoded.device.memory_bytes, std::uint64_t{150} << 30);
  EXPECT_EQ(decoded.device.uuid[15], 0xAB);
  EXPECT_STREQ(decoded.name, "a device");

  Context context{};
  context.kind = Kind::kContext;
  context.context = 4;
  context.api = kApiMps;
  context.sm_count = 16;
  EXPECT_EQ(decode_whole(context).context.is_mps, 1u);
  EXPECT_EQ(decode_whole(context).context.sm_count, 0u) << "only a green context has SMs of its own";
  context.is_green = 1;
  EXPECT_EQ(decode_whole(context).context.sm_count, 16u);

  Stream stream{};
  stream.kind = Kind::kStream;
  stream.priority = static_cast<std::uint32_t>(-5);
  stream.flag = kStreamIsDefault;
  EXPECT_EQ(decode_whole(stream).stream.priority, -5);
  EXPECT_EQ(decode_whole(stream).stream.is_default, 1u);
}

TEST(CuptiDecode, OverheadNamesAThreadOnlyWhereItHasOne) {
  Overhead overhead{};
  overhead.kind = Kind::kOverhead;
  overhead.overhead_kind = 1 << 16;
  overhead.thread = 99;
  overhead.start = 1;
  overhead.end = 3;
  EXPECT_EQ(decode_whole(overhead).overhead.thread, 0u);
  overhead.object_kind = kObjectThread;
  EXPECT_EQ(decode_whole(overhead).overhead.thread, 99u);
  EXPECT_EQ(decode_whole(overhead).overhead.kind, 1u << 16);
}

TEST(CuptiDecode, OverheadThatIsNotTheTracersIsLeftAlone) {
  const auto verdict = [](std::uint32_t kind) {
    Overhead overhead{};
    overhead.kind = Kind::kOverhead;
    overhead.overhead_kind = kind;
    overhead.start = 1;
    overhead.end = 3;
    return decode_whole(overhead).verdict;
  };
  for (std::uint32_t kind : {1u << 16, 2u << 16, 3u << 16, 7u << 16})
    EXPECT_EQ(verdict(kind), Verdict::kRecord) << kind;
  for (std::uint32_t kind : {0u, 1u, 4u << 16, 5u << 16, 6u << 16}) EXPECT_EQ(verdict(kind), Verdict::kForeign) << kind;
}

TEST(CuptiDecode, ContextSwitchesBeginAndEnd) {
  ContextSwitch change{};
  change.kind = Kind::kContextSwitch;
  change.time = 1234;
  change.context = 2;
  change.operation = kSwitchBegins;
  EXPECT_EQ(decode_whole(change).context_switch.at_ns, 1234);
  EXPECT_EQ(decode_whole(change).context_switch.is_begin, 1u);
  change.operation = kSwitchEnds;
  EXPECT_EQ(decode_whole(change).context_switch.is_begin, 0u);
  change.operation = 0;
  EXPECT_EQ(decode_whole(change).verdict, Verdict::kBad);
}

RC_GTEST_PROP(CuptiDecode, BytesOfAnyKindGiveAWholeRecordOrNone, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(0, 256);
  const auto bytes = *rc::gen::container<std::vector<std::uint8_t>>(size, rc::gen::arbitrary<std::uint8_t>());
  const auto kind = *rc::gen::inRange<std::uint32_t>(0, 64);
  const std::unique_ptr<std::uint8_t[]> record(new std::uint8_t[size]);
  std::copy(bytes.begin(), bytes.end(), record.get());
  if (size >= sizeof(kind)) std::memcpy(record.get(), &kind, sizeof(kind));
  const Decoded decoded = decode(reinterpret_cast<const Activity*>(record.get()), size);
  if (decoded.verdict != Verdict::kRecord) return;
  RC_ASSERT(decoded.head.size % 8 == 0);
  RC_ASSERT(decoded.head.size > sizeof(part::RecordHead));
  RC_ASSERT(decoded.start_ns >= 0);
  RC_ASSERT(decoded.end_ns >= decoded.start_ns);
}

}  // namespace
}  // namespace corun::cupti
