#include "sim/run/client_views.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

ClientSpec sized(std::uint64_t working_set, std::uint64_t allocated, std::uint64_t snapshot) {
  ClientSpec spec;
  spec.context.working_set_bytes = working_set;
  spec.allocated_bytes = allocated;
  spec.snapshot_bytes = snapshot;
  return spec;
}

TEST(ClientViews, AreWhatEachClientStatesBeforeItJoins) {
  RunInput input;
  input.clients = {sized(5, 0, 0), sized(6, 7, 8)};
  input.clients[1].role = Role::kInteractive;
  input.clients[1].pacing.period = Duration{9};
  const std::vector<ClientView> views = client_views(input);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].working_set_bytes, 5u);
  EXPECT_EQ(views[0].allocated_bytes, 5u) << "where not stated, the working set";
  EXPECT_EQ(views[0].snapshot_bytes, 5u);
  EXPECT_EQ(views[0].role, Role::kBestEffort);
  EXPECT_EQ(views[0].frame_period, Duration{0});
  EXPECT_EQ(views[1].working_set_bytes, 6u);
  EXPECT_EQ(views[1].allocated_bytes, 7u);
  EXPECT_EQ(views[1].snapshot_bytes, 8u);
  EXPECT_EQ(views[1].role, Role::kInteractive);
  EXPECT_EQ(views[1].frame_period, Duration{9});
  EXPECT_FALSE(views[0].is_present);
}

TEST(DeviceView, HasSlicesOnlyWhereContextsTakeTurns) {
  DeviceSpec spec;
  spec.sm_count = 3, spec.max_threads_per_sm = 4, spec.max_blocks_per_sm = 5;
  spec.memory_bytes = 6, spec.context_bytes = 7;
  spec.to_device_bytes_per_s = 8, spec.from_device_bytes_per_s = 9;
  spec.time_slice = Duration{10}, spec.switch_cost = Duration{11};
  for (const Sharing sharing : {Sharing::kTimeSliced, Sharing::kConcurrent, Sharing::kExclusive}) {
    spec.sharing = sharing;
    const DeviceView view = device_view(spec);
    EXPECT_EQ(view.sm_count, 3u);
    EXPECT_EQ(view.max_threads_per_sm, 4u);
    EXPECT_EQ(view.max_blocks_per_sm, 5u);
    EXPECT_EQ(view.memory_bytes, 6u);
    EXPECT_EQ(view.context_bytes, 7u);
    EXPECT_EQ(view.to_device_bytes_per_s, 8u);
    EXPECT_EQ(view.from_device_bytes_per_s, 9u);
    EXPECT_EQ(view.time_slice, Duration{sharing == Sharing::kTimeSliced ? 10 : 0});
    EXPECT_EQ(view.switch_cost, Duration{sharing == Sharing::kTimeSliced ? 11 : 0});
  }
}

TEST(SmDemands, AreThePartOfTheDeviceThatAFirstWaveFills) {
  DeviceSpec spec;
  spec.sm_count = 4, spec.max_threads_per_sm = 1024, spec.max_blocks_per_sm = 32;
  Workload workload;
  const auto add = [&](std::uint32_t blocks, OpKind kind) {
    WorkOp op;
    op.kind = kind;
    if (blocks > 0) op.shape = {.grid_x = blocks, .grid_y = 1, .grid_z = 1, .block_x = 512, .block_y = 1, .block_z = 1};
    workload.ops.push_back(op);
  };
  add(2, OpKind::kKernel);
  add(8, OpKind::kKernel);
  add(80, OpKind::kKernel);
  add(0, OpKind::kKernel);
  add(2, OpKind::kRender);
  EXPECT_EQ(sm_demands(spec, workload), (std::vector<double>{0.25, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace corun
