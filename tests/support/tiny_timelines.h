#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "traces/timeline.h"

namespace corun::testing {

/// How the tiny timeline was made and what is known of it.
inline void describe_tiny(TimelineBuilder& b) {
  b.fidelity() = {.has_calls = true, .has_frames = true, .per_frame = false, .co_run = true};
  b.provenance().source_format = "handmade";
  b.provenance().source_file = "tiny.json";
  b.provenance().origin_ns = 1'700'000'000'000'000'000;
  b.provenance().devices = {{.name = "Device 0", .sm_count = 132, .memory_bytes = 80ull << 30}};
  b.provenance().notes = {"Written by hand."};
  b.provenance().programs = {{77, "quake.exe"}, {4242, "python3"}};
  b.provenance().untraced_rate = {.launches = 1'000, .duration_ns = 20'000'000, .jitter_ppm = 15'000};
  b.provenance().tracer_ns = 7'500;
  b.note_memory({.device = 0, .process = 4242, .bytes = 3ull << 30, .source = MemorySource::kAllocated});
  b.skip("negative duration", "tiny.json:12");
}

/// Something of everything: two launched kernels, a copy that a wait awaits, a mark, a frame, all names and losses.
/// 3 operations on 2 queues over 60 us.
inline Timeline tiny_timeline() {
  TimelineBuilder b;
  const std::uint32_t compute = b.queue({.device = 0, .context = 1, .stream = 7, .process = 4242, .priority = -1});
  const std::uint32_t copies = b.queue({.device = 0, .context = 1, .stream = 8, .process = 4242});
  const std::uint32_t thread = b.thread({.process = 4242, .thread = 4243});
  const std::uint32_t shape = b.shape({.grid_x = 128,
                                       .grid_y = 2,
                                       .grid_z = 1,
                                       .block_x = 256,
                                       .block_y = 1,
                                       .block_z = 1,
                                       .registers_per_thread = 40,
                                       .shared_memory_bytes = 8192});
  const std::uint32_t swapchain =
      b.swapchain({.application = b.intern("quake.exe"), .process = 77, .address = "0x24B280A1C0"});

  const std::uint32_t first =
      b.add(CallRecord{.start_ns = 0, .duration_ns = 4'000, .thread = thread, .queue = compute});
  const std::uint32_t second =
      b.add(CallRecord{.start_ns = 5'000, .duration_ns = 3'000, .thread = thread, .queue = compute});
  b.add(OpRecord{.start_ns = 6'000,
                 .duration_ns = 20'000,
                 .name = b.intern("gemm"),
                 .queue = compute,
                 .call = first,
                 .shape = shape});
  b.add(OpRecord{.start_ns = 26'500,
                 .duration_ns = 1'500,
                 .name = b.intern("relu"),
                 .queue = compute,
                 .call = second,
                 .shape = shape,
                 .graph_node = 0x1'0000'0005});
  const std::uint32_t copy = b.add(OpRecord{
      .start_ns = 30'000, .duration_ns = 30'000, .kind = OpKind::kCopyDeviceToHost, .queue = copies, .bytes = 1 << 20});
  b.add(CallRecord{.start_ns = 9'000,
                   .duration_ns = 52'000,
                   .kind = CallKind::kSynchronizeEvent,
                   .thread = thread,
                   .awaited = copy});
  b.add(MarkRecord{.start_ns = 0, .duration_ns = 61'000, .name = b.intern("iteration 1"), .thread = thread});
  b.add(FrameRecord{.present_ns = 50'000,
                    .cpu_busy_ns = 40'000,
                    .submit_ns = 10'000,
                    .gpu_begin_ns = 12'000,
                    .gpu_busy_ns = 0,
                    .visits = 2,
                    .swapchain = swapchain,
                    .dropped = true});

  describe_tiny(b);
  return std::move(b).seal();
}

/// `count` kernels of `duration_ns` on one queue, one every `period_ns`, each with a launch call as long before it
/// as the kernel is long. The names repeat.
inline Timeline periodic_kernels(std::uint32_t count, std::int64_t period_ns, std::int64_t duration_ns) {
  TimelineBuilder b;
  const std::uint32_t queue = b.queue({.stream = 7});
  const std::uint32_t thread = b.thread({.process = 1, .thread = 1});
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t launch_ns = i * period_ns;
    const std::uint32_t call =
        b.add(CallRecord{.start_ns = launch_ns, .duration_ns = duration_ns / 2, .thread = thread, .queue = queue});
    b.add(OpRecord{.start_ns = launch_ns + duration_ns,
                   .duration_ns = duration_ns,
                   .name = b.intern("kernel " + std::to_string(i % 5)),
                   .queue = queue,
                   .call = call});
  }
  b.fidelity().has_calls = true;
  return std::move(b).seal();
}

}  // namespace corun::testing
