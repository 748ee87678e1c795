#include "tracer/gl/visits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "traces/parts/part_reader.h"

namespace corun::gl {
namespace {

/// A GPU whose clock and progress the test sets. `done` stamps have been reached.
struct FakeGpu {
  std::map<unsigned, std::uint64_t> stamps;
  std::map<unsigned, bool> is_done;
  std::uint64_t clock = 1'000'000;
  unsigned names = 0;
  int calls = 0;
  bool is_disjoint = false;
  int query_buffer = 0;
  bool was_waited_for = false;

  void finish() {
    for (auto& [query, done] : is_done) done = true;
  }
};
FakeGpu gpu;

QueryApi fake_api(std::uint32_t bits = 64, bool is_es = false) {
  QueryApi api;
  api.has_queries = true;
  api.bits = bits;
  api.can_be_disjoint = is_es;
  api.gen_queries = [](int count, unsigned* queries) {
    for (int i = 0; i < count; ++i) queries[i] = ++gpu.names;
  };
  api.query_counter = [](unsigned query, unsigned) {
    ++gpu.calls;
    gpu.stamps[query] = gpu.clock += 1000;
    gpu.is_done[query] = false;
  };
  api.get_query_state = [](unsigned query, unsigned, unsigned* value) {
    ++gpu.calls;
    *value = gpu.is_done[query] ? 1 : 0;
  };
  api.get_query_result = [](unsigned query, unsigned, std::uint64_t* value) {
    ++gpu.calls;
    gpu.was_waited_for |= !gpu.is_done[query];
    *value = gpu.stamps[query];
  };
  api.get_integer64 = [](unsigned, std::int64_t* value) { *value = static_cast<std::int64_t>(gpu.clock); };
  api.get_integer = [](unsigned what, int* value) {
    constexpr unsigned kDisjoint = 0x8FBB;
    *value = what == kDisjoint ? gpu.is_disjoint : gpu.query_buffer;
  };
  return api;
}

class VisitsTest : public testing::Test {
 protected:
  void SetUp() override {
    gpu = FakeGpu{};
    std::string pattern = (std::filesystem::temp_directory_path() / "corun-visits-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("CORUN_TRACE_DIR", folder_.c_str(), 1);
    ASSERT_TRUE(log_.start(part::Source::kGl, 0));
  }
  void TearDown() override {
    log_.end(part::EndReason::kExit);
    unsetenv("CORUN_TRACE_DIR");
    std::filesystem::remove_all(folder_);
  }

  void visit(std::uint64_t frame) {
    visits_->open();
    visits_->close();
    part::VisitRecord record{};
    record.frame = frame;
    visits_->submitted(record, log_);
  }

  PartContent content() {
    log_.end(part::EndReason::kExit);
    const auto path = std::filesystem::directory_iterator(folder_)->path();
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return read_part(bytes.str(), "test.part");
  }

  guest::FrameLog log_;
  std::unique_ptr<Visits> visits_ = std::make_unique<Visits>();
  std::filesystem::path folder_;
};

TEST_F(VisitsTest, StampsAreNeverWaitedFor) {
  visits_->begin(fake_api(), 1);
  visits_->read_clock(0);
  visit(1);
  visits_->collect(log_);
  EXPECT_EQ(visits_->in_flight(), 1);
  gpu.finish();
  visits_->collect(log_);
  EXPECT_EQ(visits_->in_flight(), 0);
  EXPECT_FALSE(gpu.was_waited_for);
}

TEST_F(VisitsTest, NothingIsFetchedIntoABufferOfTheProgram) {
  QueryApi api = fake_api();
  api.can_have_buffer = true;
  visits_->begin(api, 1);
  visit(1);
  gpu.finish();
  gpu.query_buffer = 5;
  const int calls = gpu.calls;
  visits_->collect(log_);
  EXPECT_EQ(gpu.calls, calls);
  EXPECT_EQ(visits_->in_flight(), 1);
  gpu.query_buffer = 0;
  visits_->collect(log_);
  EXPECT_EQ(visits_->in_flight(), 0);
}

TEST_F(VisitsTest, AVisitWaitsForTheReadingBehindIt) {
  visits_->begin(fake_api(), 7);
  visits_->read_clock(0);
  visit(1);
  gpu.finish();
  visits_->collect(log_);
  gpu.clock += 1'000'000;
  visits_->read_clock(Visits::kClockPeriod);
  visits_->collect(log_);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_EQ(part.visits[0].queue, 7u);
  EXPECT_GT(part.visits[0].gpu_begin_ns, 0);
  EXPECT_GE(part.visits[0].gpu_end_ns, part.visits[0].gpu_begin_ns);
}

TEST_F(VisitsTest, WithAllQueriesInFlightAVisitGoesOutWithoutTimesAndIsCounted) {
  visits_->begin(fake_api(), 1);
  visits_->read_clock(0);
  for (int i = 0; i < Visits::kInFlight + 3; ++i) visit(5);
  visits_->drain(log_);
  const PartContent part = content();
  EXPECT_EQ(part.visits.size(), static_cast<std::size_t>(Visits::kInFlight + 3));
  EXPECT_EQ(part.lost.at(part::LossReason::kNoQuery), 3u);
}

TEST_F(VisitsTest, WithoutQueriesVisitsGoOutAtOnceAndGlIsNotAsked) {
  visits_->begin(QueryApi{}, 1);
  visit(1);
  visits_->read_clock(0);
  visits_->collect(log_);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_EQ(part.visits[0].gpu_end_ns, 0);
  EXPECT_TRUE(part.lost.empty());
}

TEST_F(VisitsTest, TheLastHandingOverCallsNoGl) {
  visits_->begin(fake_api(), 1);
  visits_->read_clock(0);
  visit(1);
  gpu.finish();
  visits_->collect(log_);
  visit(2);
  const int calls = gpu.calls;
  visits_->drain(log_);
  EXPECT_EQ(gpu.calls, calls);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 2u);
  EXPECT_GT(part.visits[0].gpu_end_ns, 0) << "its stamps were there";
  EXPECT_EQ(part.visits[1].gpu_end_ns, 0) << "its stamps were not";
}

TEST_F(VisitsTest, AClockThatWrapsGoesOn) {
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 36;
  gpu.clock = kWrap - 1500;
  visits_->begin(fake_api(36), 1);
  visits_->read_clock(0);
  visits_->open();  // 500 before the end of the clock
  gpu.clock -= kWrap;
  visits_->close();
  part::VisitRecord record{};
  record.frame = 1;
  visits_->submitted(record, log_);
  gpu.finish();
  visits_->collect(log_);
  visits_->drain(log_);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 1u);
  EXPECT_EQ(part.visits[0].gpu_end_ns - part.visits[0].gpu_begin_ns, 1000);
}

TEST_F(VisitsTest, AJumpOfTheClockTakesTheTimesOfWhatIsInFlight) {
  visits_->begin(fake_api(64, true), 1);
  visits_->read_clock(0);
  visit(1);
  gpu.finish();
  gpu.is_disjoint = true;
  visits_->collect(log_);
  gpu.is_disjoint = false;
  visits_->read_clock(0);
  visit(2);
  gpu.finish();
  visits_->collect(log_);
  visits_->drain(log_);
  const PartContent part = content();
  ASSERT_EQ(part.visits.size(), 2u);
  EXPECT_EQ(part.visits[0].gpu_end_ns, 0);
  EXPECT_GT(part.visits[1].gpu_end_ns, 0);
}

TEST_F(VisitsTest, DrawsOfASampledFrameWaitForTheReadingBehindThem) {
  const auto sampled_visit = [&](std::uint64_t frame) {
    visits_->open({frame, 1, true});
    for (int i = 0; i < 2; ++i) visits_->call(true);
    visits_->close();
  };
  visits_->begin(fake_api(), 1);
  visits_->read_clock(0);
  sampled_visit(1);
  sampled_visit(2);
  visits_->open({3, 1, false});
  gpu.finish();
  visits_->collect(log_);
  gpu.clock += 1'000'000;
  visits_->read_clock(Visits::kClockPeriod);
  visits_->collect(log_);
  EXPECT_FALSE(gpu.was_waited_for);
  const PartContent part = content();
  ASSERT_EQ(part.draws.size(), 3u);
  EXPECT_EQ(part.draws[0].frame, 2u);
  EXPECT_EQ(part.draws[0].calls, 1u);
  EXPECT_EQ(part.draws[0].gpu_end_ns, part.draws[1].gpu_begin_ns);
  EXPECT_GT(part.draws[2].gpu_end_ns, part.draws[2].gpu_begin_ns);
}

TEST_F(VisitsTest, AJumpOfTheClockTakesTheDrawsInFlight) {
  visits_->begin(fake_api(64, true), 1);
  visits_->read_clock(0);
  for (std::uint64_t frame = 1; frame <= 3; ++frame) {
    visits_->open({frame, 1, frame < 3});
    visits_->close();
  }
  gpu.finish();
  gpu.is_disjoint = true;
  gpu.clock += 1'000'000;
  visits_->collect(log_);
  gpu.is_disjoint = false;
  visits_->read_clock(Visits::kClockPeriod);
  visits_->collect(log_);
  EXPECT_TRUE(content().draws.empty());
}

/// Looks at a context whose driver says nothing but its renderer.
bool is_over_vulkan(const char* renderer) {
  static const char* said;
  said = renderer;
  using GetString = const char* (*)(unsigned);
  const GetString get_string = [](unsigned what) {
    constexpr unsigned kRenderer = 0x1F01;
    return what == kRenderer ? said : "1.1";
  };
  static GetString found;
  found = get_string;
  return load_query_api([](const char* name) {
           if (std::string_view(name) == "glGetString") return reinterpret_cast<void*>(found);
           const auto get_integer = fake_api().get_integer;
           return std::string_view(name) == "glGetIntegerv" ? reinterpret_cast<void*>(get_integer) : nullptr;
         })
      .is_over_vulkan;
}

TEST(QueryApiTest, ARendererThatDrawsByVulkanIsKnown) {
  EXPECT_TRUE(is_over_vulkan("zink Vulkan 1.3 (NVIDIA H100)"));
  EXPECT_TRUE(is_over_vulkan("ANGLE (NVIDIA, Vulkan 1.3.242 (NVIDIA H100 (0x00002330)), NVIDIA)"));
  EXPECT_TRUE(is_over_vulkan("ANGLE (Vulkan 1.1.0(SwiftShader Device))"));
  EXPECT_FALSE(is_over_vulkan("ANGLE (NVIDIA Corporation, NVIDIA H100, OpenGL 4.5.0)"));
  EXPECT_FALSE(is_over_vulkan("NVIDIA H100/PCIe/SSE2"));
}

}  // namespace
}  // namespace corun::gl
