#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"
#include "traces/importers/chrome/kineto_event.h"

namespace corun {
namespace {

// A trace with a kernel, a copy and a memset and their calls, in the spelling of 2024.
constexpr std::string_view kKernel =
    R"json({"ph": "X", "cat": "kernel", "name": "gemm<4>(float*)", "pid": 0, "tid": 7, "ts": 1000.500, "dur": 3.648,
        "args": {"External id": 3, "device": 0, "context": 1, "stream": 7, "correlation": 28, "registers per thread": 32,
                 "shared memory": 24, "blocks per SM": 0.48, "grid": [64, 2, 1], "block": [32, 4, 1]}})json";
constexpr std::string_view kLaunch =
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 22, "tid": 23, "ts": 990.250, "dur": 5.000,
        "args": {"External id": 3, "cbid": 211, "correlation": 28}})";
constexpr std::string_view kCopy =
    R"json({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 0, "tid": 7, "ts": 1010,
        "dur": 2.240, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 29, "bytes": 4096}})json";

std::string trace(std::string_view events, std::string_view head = {}) {
  return fmt::format("{{{} \"traceEvents\": [\n{}\n]}}", head, events);
}

std::string event(std::string_view category, std::string_view name, std::string_view more) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", {}}})", category, name, more);
}

TEST(Kineto, ReadsKernelsWithShapeStreamAndLaunch) {
  const Timeline timeline = import_text("kineto", trace(fmt::format("{},\n{}", kKernel, kLaunch)));
  ASSERT_EQ(timeline.ops().size(), 1U);
  const OpRecord& op = timeline.ops()[0];
  EXPECT_EQ(op.kind, OpKind::kKernel);
  EXPECT_EQ(op.start_ns, 10250);
  EXPECT_EQ(op.duration_ns, 3648);
  EXPECT_EQ(timeline.text(op.name), "gemm<4>(float*)");
  EXPECT_EQ(timeline.shapes()[op.shape], (LaunchShape{64, 2, 1, 32, 4, 1, 32, 24}));
  EXPECT_EQ(timeline.queues()[op.queue], (QueueRecord{.device = 0, .context = 1, .stream = 7, .process = 22}));
  ASSERT_EQ(timeline.calls().size(), 1U);
  EXPECT_EQ(op.call, 0U);
  EXPECT_EQ(timeline.calls()[0].start_ns, 0);
  EXPECT_EQ(timeline.calls()[0].duration_ns, 5000);
  EXPECT_EQ(timeline.threads()[timeline.calls()[0].thread], (ThreadRecord{22, 23}));
  EXPECT_TRUE(timeline.fidelity().has_calls);
  EXPECT_TRUE(timeline.fidelity().host_gaps_inflated);
  EXPECT_FALSE(timeline.fidelity().integer_microseconds);
}

std::string memory(std::string_view device, std::string_view type, std::string_view reserved) {
  return fmt::format(R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 22, "tid": 23,
      "ts": 5, "args": {{"Total Reserved": {}, "Total Allocated": 1, "Bytes": 1, "Addr": 7, "Device Id": {},
      "Device Type": {}, "Ev Idx": 3}}}})",
                     reserved, device, type);
}

TEST(Kineto, KeepsTheMostMemoryThatTheAllocatorReservedOnEachGpu) {
  const std::string events = memory("0", "1", "100") + "," + memory("0", "1", "700") + "," + memory("0", "1", "300") +
                             "," + memory("1", "1", "50") + "," + memory("-1", "0", "9000");
  const Timeline timeline = import_text("kineto", trace(fmt::format("{},\n{}", kKernel, events)));
  const std::vector<MemoryPeak> expected = {{.device = 0, .process = 22, .bytes = 700}, {1, 22, 50}};
  EXPECT_EQ(timeline.memory_peaks(), expected);
  EXPECT_EQ(timeline.ops().size(), 1U);
  EXPECT_TRUE(timeline.provenance().skipped.empty());
}

TEST(Kineto, TakesNoMemoryFromOtherInstantsOrUnreadableNumbers) {
  std::string other = memory("0", "1", "100");
  other.replace(other.find("[memory]"), 8, "[marker]");
  const std::string events = other + "," + memory("0", "1", "-5") + "," + memory("0", "1", "4611686018427387904");
  EXPECT_TRUE(import_text("kineto", trace(fmt::format("{},\n{}", kKernel, events))).memory_peaks().empty());
}

TEST(Kineto, KeepsAKernelWhoseNameHoldsWhatIsNoCharacter) {
  const std::string replacement = "\xEF\xBF\xBD";
  for (const auto& [written, read] :
       std::vector<std::pair<std::string, std::string>>{{"a\xFFz", "a" + replacement + "z"},
                                                        {"\xC3", replacement},
                                                        {"a\\ud800z", "a" + replacement + "z"},
                                                        {"a\\udc00\\ud800", "a" + replacement + replacement},
                                                        {"\xFF\\\"q\\\"", replacement + "\"q\""},
                                                        {"\xFF\\ud83d\\ude00", replacement + "\xF0\x9F\x98\x80"}}) {
    const Timeline timeline = import_text(
        "kineto", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": ")" + written +
                      R"(", "ts": 1, "dur": 2, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1}}]})");
    ASSERT_EQ(timeline.ops().size(), 1u) << written;
    EXPECT_EQ(timeline.text(timeline.ops()[0].name), read);
  }
}

TEST(Kineto, ReadsTheSameWhateverTheOrderOfKeys) {
  const Timeline timeline = import_text("kineto", R"({"traceEvents": [
      {"args": {"stream": 7, "grid": [2, 1, 1], "device": 0, "correlation": 1}, "dur": 5, "cat": "kernel", "tid": 7,
       "name": "k", "pid": 0, "ph": "X", "ts": 3}], "schemaVersion": 1})");
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.shapes()[timeline.ops()[0].shape].grid_x, 2U);
  EXPECT_EQ(timeline.provenance().source_version, "1");
}

TEST(Kineto, ReadsCopiesAndMemsetsWithDirectionAndBytes) {
  const Timeline timeline = import_text(
      "kineto", trace(fmt::format("{},\n{}", kCopy,
                                  event("gpu_memset", "Memset (Device)",
                                        R"("ts": 1020, "dur": 1, "args": {"device": 0, "stream": 7, "bytes": 512})"))));
  ASSERT_EQ(timeline.ops().size(), 2U);
  EXPECT_EQ(timeline.ops()[0].kind, OpKind::kCopyDeviceToHost);
  EXPECT_EQ(timeline.ops()[0].bytes, 4096U);
  EXPECT_EQ(timeline.ops()[1].kind, OpKind::kMemset);
  EXPECT_EQ(timeline.ops()[1].bytes, 512U);
}

TEST(Kineto, TellsCopyDirectionsFromEverySpelling) {
  EXPECT_EQ(copy_kind_of("Memcpy HtoD (Pageable -> Device)"), OpKind::kCopyHostToDevice);
  EXPECT_EQ(copy_kind_of("CopyDeviceToHost"), OpKind::kCopyDeviceToHost);
  EXPECT_EQ(copy_kind_of("Memcpy DtoD (Device -> Device)"), OpKind::kCopyDeviceToDevice);
  EXPECT_EQ(copy_kind_of("Memcpy PtoP (Device -> Device)"), OpKind::kCopyPeer);
}

TEST(Kineto, TellsCopiesToAndFromArraysAndPeers) {
  for (const char* name : {"Memcpy HtoA", "Memcpy HtoH", "CopyHostToDevice", "CopyHostToArray"})
    EXPECT_EQ(copy_kind_of(name), OpKind::kCopyHostToDevice) << name;
  for (const char* name : {"Memcpy AtoH", "Memcpy DtoH", "CopyArrayToHost"})
    EXPECT_EQ(copy_kind_of(name), OpKind::kCopyDeviceToHost) << name;
  EXPECT_EQ(copy_kind_of("CopyPeer"), OpKind::kCopyPeer);
}

TEST(Kineto, TimesUpTo2To61NanosecondsAreTaken) {
  const auto count = [](std::string_view times) {
    const Timeline timeline = import_text(
        "kineto", trace(event("kernel", "a", fmt::format("{}, {}", times, R"("args": {"device": 0, "stream": 7})")) +
                        "," + event("kernel", "b", R"("ts": 5, "dur": 1, "args": {"device": 0, "stream": 7})")));
    return timeline.provenance().skipped.contains("event whose time is out of range") ? 1U : timeline.ops().size();
  };
  EXPECT_EQ(count(R"("ts": 5, "dur": 1000000000000)"), 2U);
  EXPECT_EQ(count(R"("ts": 2305843009213694.953, "dur": 1)"), 1U);
  EXPECT_EQ(count(R"("ts": -2305843009213694.953, "dur": 1)"), 1U);
  EXPECT_EQ(count(R"("ts": 5, "dur": 2305843009213694.953)"), 1U);
}

TEST(Kineto, TimeFrom2001OnIsOfTheCalendarWhateverBaseThereIs) {
  const auto clock = [](std::string_view ts) {
    const Timeline timeline = import_text(
        "kineto",
        trace(event("kernel", "k", fmt::format(R"("ts": {}, "dur": 1, "args": {{"device": 0, "stream": 7}})", ts))));
    return timeline.provenance().clock;
  };
  EXPECT_EQ(clock("1000000000000000"), "unix_epoch");
  EXPECT_EQ(clock("999999999999999.999"), "capture_start");
}

TEST(Kineto, MarksTheCallOfACopyIntoPageableMemoryAsBlocking) {
  const Timeline timeline =
      import_text("kineto", trace(event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)",
                                        R"("ts": 20, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 4})") +
                                  "," +
                                  event("cuda_runtime", "cudaMemcpyAsync",
                                        R"("ts": 10, "dur": 15, "pid": 1, "tid": 1, "args": {"correlation": 4})")));
  EXPECT_EQ(timeline.calls()[0].kind, CallKind::kBlockingCopy);
}

TEST(Kineto, KeepsEveryCharacterOfANameAndReplacesBytesThatAreNone) {
  const std::string replaced = "\xEF\xBF\xBD";
  const auto name_read = [](const std::string& name) {
    const Timeline timeline =
        import_text("kineto", trace(event("kernel", name, R"("ts": 1, "dur": 2, "args": {"device": 0, "stream": 7})")));
    return std::string{timeline.text(timeline.ops().at(0).name)};
  };
  // The last character before the surrogates, a surrogate, the last character of all, what would be the next.
  EXPECT_EQ(name_read("a\xFF\xED\x9F\xBF"), "a" + replaced + "\xED\x9F\xBF");
  EXPECT_EQ(name_read("a\xED\xA0\x80z"), "a" + replaced + replaced + replaced + "z");
  EXPECT_EQ(name_read("a\xFF\xF4\x8F\xBF\xBF"), "a" + replaced + "\xF4\x8F\xBF\xBF");
  EXPECT_EQ(name_read("a\xF4\x90\x80\x80z"), "a" + replaced + replaced + replaced + replaced + "z");
  // Longer than it needs to be, of two and of three bytes; cut off.
  EXPECT_EQ(name_read("a\xC1\x81z"), "a" + replaced + replaced + "z");
  EXPECT_EQ(name_read("a\xE0\x9F\xBFz"), "a" + replaced + replaced + replaced + "z");
  EXPECT_EQ(name_read("a\xFF\xE0\xA0\x80z"), "a" + replaced + "\xE0\xA0\x80z");
}

TEST(Kineto, ReadsTheSpellingOf2021) {
  const Timeline timeline = import_text(
      "kineto",
      trace(
          event("Kernel", "k", R"("pid": 0, "tid": "stream 7", "ts": 1623142623529248, "dur": 0,
            "args": {"device": 0, "stream": 7, "correlation": 5, "external id": 9})") +
          "," + event("Runtime", "cudaLaunchKernel", R"("pid": 25738, "tid": "25772", "ts": 1623142623529088, "dur": 22,
            "args": {"cbid": 211, "correlation": 5, "external id": 9, "external ts": 1})") +
          "," +
          event("Operator", "ProfilerStep#5", R"("pid": 25738, "tid": "25738", "ts": 1623142623529000, "dur": 900)")));
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.ops()[0].duration_ns, 0);
  EXPECT_EQ(timeline.threads()[timeline.calls()[0].thread].thread, 25772U);
  ASSERT_EQ(timeline.marks().size(), 1U);
  EXPECT_EQ(timeline.text(timeline.marks()[0].name), "ProfilerStep#5");
  EXPECT_TRUE(timeline.fidelity().integer_microseconds);
  EXPECT_EQ(timeline.provenance().origin_ns, 1623142623529000000);
  EXPECT_EQ(timeline.provenance().clock, "unix_epoch");
}

TEST(Kineto, PlacesAllThreeGenerationsOfTimesAtTheSameInstant) {
  const auto origin = [](std::string_view head, std::string_view ts) {
    const Timeline timeline = import_text(
        "kineto",
        trace(event("kernel", "k", fmt::format(R"("ts": {}, "dur": 1.5, "args": {{"device": 0, "stream": 7}})", ts)),
              head));
    return timeline.provenance().origin_ns;
  };
  EXPECT_EQ(origin("", "1711964646000123"), 1711964646000123000);
  EXPECT_EQ(origin("", "1711964646000123.456"), 1711964646000123456);
  EXPECT_EQ(origin("\"baseTimeNanoseconds\": 1711964646000000000,", "123.456"), 1711964646000123456);
}

TEST(Kineto, WholeNumbersWrittenAsDecimalsAreStillWholeMicroseconds) {
  const Timeline timeline = import_text(
      "kineto",
      trace(event("kernel", "k", R"("ts": 1711964646000123, "dur": 68.0, "args": {"device": 0, "stream": 7})")));
  EXPECT_TRUE(timeline.fidelity().integer_microseconds);
}

TEST(Kineto, KeepsMarksOfTheHostAndNotTheirShadowsOnTheGpu) {
  const Timeline timeline = import_text(
      "kineto", trace(event("user_annotation", "ProfilerStep#1", R"("pid": 1, "tid": 1, "ts": 5, "dur": 10)") + "," +
                      event("user_annotation", "Optimizer.step", R"("pid": 1, "tid": 1, "ts": 6, "dur": 2)") + "," +
                      event("gpu_user_annotation", "ProfilerStep#1", R"("pid": 0, "tid": 7, "ts": 5, "dur": 10)") +
                      "," + event("cpu_op", "aten::add", R"("pid": 1, "tid": 1, "ts": 5, "dur": 10)")));
  EXPECT_EQ(timeline.marks().size(), 2U);
}

TEST(Kineto, ResolvesStreamWaitsFromTheSynchronisationRecords) {
  const Timeline timeline = import_text(
      "kineto",
      trace(event("kernel", "a",
                  R"("ts": 100, "dur": 5, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1})") +
            "," +
            event("kernel", "b",
                  R"("ts": 110, "dur": 5, "args": {"device": 0, "context": 1, "stream": 9, "correlation": 4})") +
            "," +
            event("cuda_runtime", "cudaLaunchKernel",
                  R"("pid": 1, "tid": 1, "ts": 90, "dur": 1, "args": {"correlation": 1})") +
            "," +
            event("cuda_runtime", "cudaEventRecord",
                  R"("pid": 1, "tid": 1, "ts": 92, "dur": 1, "args": {"correlation": 2})") +
            "," +
            event("cuda_runtime", "cudaStreamWaitEvent",
                  R"("pid": 1, "tid": 1, "ts": 94, "dur": 1, "args": {"correlation": 3})") +
            "," +
            event("cuda_runtime", "cudaLaunchKernel",
                  R"("pid": 1, "tid": 1, "ts": 96, "dur": 1, "args": {"correlation": 4})") +
            "," +
            event("cuda_sync", "Stream Wait Event",
                  R"("ts": 94, "dur": 1, "pid": 0, "tid": 9, "args": {"wait_on_stream": 7,
            "wait_on_cuda_event_record_corr_id": 2, "stream": 9, "correlation": 3, "device": 0, "context": 1})")));
  ASSERT_EQ(count_calls(timeline, CallKind::kStreamWaitEvent), 1U);
  const CallRecord& wait = timeline.calls()[1];
  EXPECT_EQ(timeline.queues()[wait.queue].stream, 9U);
  EXPECT_EQ(timeline.text(timeline.ops()[wait.awaited].name), "a");
}

TEST(Kineto, TakesStreamMinusOneForNoStream) {
  for (const char* stream : {"-1", "4294967295"}) {
    const Timeline timeline = import_text(
        "kineto",
        trace(event("kernel", "a", R"("ts": 100, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1})") +
              "," +
              event("cuda_runtime", "cudaDeviceSynchronize",
                    R"("pid": 1, "tid": 1, "ts": 101, "dur": 9, "args": {"correlation": 3})") +
              "," +
              event("cuda_sync", "Context Sync",
                    fmt::format(R"("ts": 101, "dur": 9, "args": {{"stream": {}, "correlation": 3, "device": 0}})",
                                stream))));
    EXPECT_EQ(timeline.queues().size(), 1U);
    EXPECT_EQ(timeline.calls()[0].queue, OpRecord::kNoIndex);
  }
}

TEST(Kineto, ReadsDeviceResourcesOfCudaAndRocm) {
  const Timeline timeline = import_text("kineto", trace(kKernel, R"("deviceProperties": [
      {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "maxThreadsPerMultiprocessor": 2048,
       "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472, "numSms": 132},
      {"id": 1, "name": "AMD", "maxSharedMemoryPerMultiProcessor": 65536, "numSms": 304}],)"));
  ASSERT_EQ(timeline.provenance().devices.size(), 2U);
  EXPECT_EQ(timeline.provenance().devices[0].name, "NVIDIA H200");
  EXPECT_EQ(timeline.provenance().devices[0].sm_count, 132U);
  EXPECT_EQ(timeline.provenance().devices[0].memory_bytes, 150109880320U);
  EXPECT_EQ(timeline.provenance().devices[1].shared_memory_per_sm_bytes, 65536U);
}

TEST(Kineto, AcceptsATraceWithoutGpuEvents) {
  const Timeline timeline = import_text("kineto", trace(event("cpu_op", "aten::add", R"("ts": 1, "dur": 2)")));
  EXPECT_TRUE(timeline.ops().empty());
  EXPECT_EQ(skipped(timeline), 0U);
}

TEST(Kineto, AcceptsABareArrayOfEvents) {
  EXPECT_EQ(import_text("kineto", fmt::format("[{}]", kKernel)).ops().size(), 1U);
}

TEST(Kineto, KeepsWhatIsBeforeATruncationAndCountsTheLoss) {
  const std::string whole = trace(fmt::format("{},\n{},\n{}", kKernel, kCopy, kLaunch));
  const Timeline timeline = import_text("kineto", whole.substr(0, whole.size() - 60));
  EXPECT_EQ(timeline.ops().size(), 2U);
  ASSERT_EQ(timeline.provenance().skipped.count("file ends inside the event array"), 1U);
}

TEST(Kineto, LosesOnlyTheEventWhoseNameIsBadlyQuotedAndTellsItsLine) {
  for (const char* bad : {R"({"ph": "X", "cat": "kernel", "name": "say "hi" there", "ts": 1, "dur": 2})",
                          R"({"ph": "X", "cat": "cpu_op", "name": "5" disk", "ts": 1, "dur": 2})"}) {
    const Timeline timeline = import_text("kineto", trace(fmt::format("{},\n{},\n{}", kCopy, bad, kKernel)));
    EXPECT_EQ(timeline.ops().size(), 2U) << bad;
    ASSERT_EQ(skipped(timeline), 1U) << bad;
    EXPECT_NE(timeline.provenance().skipped_examples[0].find("capture.txt:4"), std::string::npos)
        << timeline.provenance().skipped_examples[0];
  }
}

TEST(Kineto, CountsEventsWithoutTimesOrWithNegativeOnes) {
  const Timeline timeline = import_text(
      "kineto", trace(event("kernel", "a", R"("ts": 1, "args": {"device": 0, "stream": 7})") + "," +
                      event("kernel", "b", R"("ts": 1, "dur": -3, "args": {"device": 0, "stream": 7})") + "," +
                      event("kernel", "c", R"("ts": 1e300, "dur": 3, "args": {"device": 0, "stream": 7})") + "," +
                      event("kernel", "d", R"("ts": 1, "dur": 3, "args": {"device": 0})")));
  EXPECT_TRUE(timeline.ops().empty());
  EXPECT_EQ(skipped(timeline), 4U);
  EXPECT_EQ(timeline.provenance().skipped.size(), 3U);
}

TEST(Kineto, CountsTimesBeyondAnyClockInsteadOfFailing) {
  const std::string kernel = R"("dur": 3, "args": {"device": 0, "stream": 7})";
  const Timeline timeline = import_text("kineto", trace(event("kernel", "a", "\"ts\": 3000000000000000, " + kernel) +
                                                        "," + event("kernel", "b", "\"ts\": 5, " + kernel)));
  EXPECT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.provenance().skipped.at("event whose time is out of range"), 1U);
}

TEST(Kineto, DoesNotJoinWhatHasNoCorrelationId) {
  const Timeline timeline = import_text(
      "kineto", trace(event("kernel", "a", R"("ts": 10, "dur": 3, "args": {"device": 0, "stream": 7})") + "," +
                      event("cuda_runtime", "cudaLaunchKernel", R"("pid": 1, "tid": 1, "ts": 1, "dur": 2)")));
  EXPECT_EQ(timeline.ops()[0].call, OpRecord::kNoIndex);
  EXPECT_EQ(timeline.calls().size(), 1U);
}

TEST(Kineto, DoesNotStumbleOverNumbersThatAreNoJson) {
  const Timeline timeline = import_text("kineto", trace(event("gpu_memcpy", "Memcpy HtoD", R"json("ts": 1, "dur": 0,
      "args": {"device": 0, "stream": 7, "memory bandwidth (GB/s)": inf, "bytes": 8, "x": -nan})json")));
  ASSERT_EQ(timeline.ops().size(), 1U);
  EXPECT_EQ(timeline.ops()[0].bytes, 8U);
}

TEST(Kineto, CutsLongNamesAtFourKibibytes) {
  const Timeline timeline = import_text(
      "kineto",
      trace(event("kernel", std::string(10000, 'k'), R"("ts": 1, "dur": 2, "args": {"device": 0, "stream": 7})")));
  EXPECT_EQ(timeline.text(timeline.ops()[0].name).size(), 4096U);
}

TEST(Kineto, SaysWhatIsMissingFromAnotherJsonFile) {
  const std::string message = import_error("kineto", R"({"a": 1, "b": [2]})");
  EXPECT_NE(message.find("capture.txt"), std::string::npos) << message;
  EXPECT_NE(message.find("no \"traceEvents\" array, expected"), std::string::npos) << message;
  EXPECT_NE(import_error("kineto", "").find("no JSON object, expected"), std::string::npos);
}

TEST(Kineto, SurvivesEveryTruncation) {
  const std::string whole = trace(fmt::format("{},\n{}", kKernel, kCopy), "\"schemaVersion\": 1,");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SourceFile source = source_of(whole.substr(0, size));
    source.bytes.shrink_to_fit();
    try {
      EXPECT_LE(importer("kineto").read(source).ops().size(), 2U);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
    }
  }
}

TEST(Kineto, IsRecognisedByItsHead) {
  EXPECT_EQ(sniffed(trace(kKernel)), "kineto");
  EXPECT_EQ(sniffed("\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": ["), "kineto");
  EXPECT_EQ(sniffed(R"([{"ph": "X", "ts": 1}])"), "kineto");
  EXPECT_EQ(sniffed(R"({"values": [1, 2]})"), "");
}

}  // namespace
}  // namespace corun
