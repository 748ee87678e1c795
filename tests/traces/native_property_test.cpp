#include <gtest/gtest.h>
// rapidcheck's own header must come after GoogleTest's.
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

#include "traces/native/native.h"

namespace corun {
namespace {

// Lengths of time that a capture can hold, most of them short.
std::int64_t any_length() {
  return *rc::gen::inRange<std::int64_t>(0, *rc::gen::element<std::int64_t>(2, 1'000, 1 << 30, INT64_MAX / 8));
}
std::int64_t length_or_absent() { return *rc::gen::arbitrary<bool>() ? any_length() : -1; }
std::uint32_t index_below(std::size_t count) {
  return *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(count));
}
std::uint32_t index_or_none(std::size_t count) {
  return count == 0 || *rc::gen::arbitrary<bool>() ? OpRecord::kNoIndex : index_below(count);
}
std::size_t any_count() { return *rc::gen::inRange<std::size_t>(0, 12); }

struct Counts {
  std::size_t strings, queues, threads, shapes, swapchains;
};

// Duplicates are merged by the builder, so the counts are those of different entries.
Counts add_dictionaries(TimelineBuilder& b) {
  Counts counts{};
  for (std::size_t i = any_count(); i > 0; --i) {
    counts.strings = std::max<std::size_t>(counts.strings, b.intern(*rc::gen::arbitrary<std::string>()).value + 1);
  }
  for (std::size_t i = 1 + any_count(); i > 0; --i) {
    const QueueRecord queue{*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint64_t>(),
                            *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>(),
                            *rc::gen::arbitrary<std::int32_t>()};
    counts.queues = std::max<std::size_t>(counts.queues, b.queue(queue) + 1);
  }
  for (std::size_t i = 1 + any_count(); i > 0; --i) {
    const ThreadRecord thread{*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()};
    counts.threads = std::max<std::size_t>(counts.threads, b.thread(thread) + 1);
  }
  for (std::size_t i = any_count(); i > 0; --i) {
    const auto any = [] { return *rc::gen::arbitrary<std::uint32_t>(); };
    counts.shapes =
        std::max<std::size_t>(counts.shapes, b.shape({any(), any(), any(), any(), any(), any(), any(), any()}) + 1);
  }
  for (std::size_t i = 1 + any_count(); i > 0; --i) {
    SwapchainRecord swapchain{StringId{index_or_none(counts.strings)}, *rc::gen::arbitrary<std::uint64_t>(),
                              *rc::gen::arbitrary<std::string>()};
    swapchain.run = *rc::gen::arbitrary<std::uint32_t>();
    swapchain.vsync = *rc::gen::element(Vsync::kUnknown, Vsync::kOff, Vsync::kOn);
    swapchain.gpu_load_ppm = *rc::gen::arbitrary<std::uint32_t>();
    counts.swapchains = std::max<std::size_t>(counts.swapchains, b.swapchain(swapchain) + 1);
  }
  return counts;
}

void add_rows(TimelineBuilder& b, const Counts& counts) {
  const std::size_t ops = any_count();
  const std::size_t calls = any_count();
  for (std::size_t i = 0; i < ops; ++i) {
    b.add(OpRecord{any_length(), any_length(), static_cast<OpKind>(index_below(7)),
                   StringId{index_or_none(counts.strings)}, index_below(counts.queues), index_or_none(calls),
                   index_or_none(counts.shapes), *rc::gen::arbitrary<std::uint64_t>(),
                   *rc::gen::arbitrary<std::uint64_t>()});
  }
  for (std::size_t i = 0; i < calls; ++i) {
    b.add(CallRecord{any_length(), any_length(), static_cast<CallKind>(index_below(7)), index_below(counts.threads),
                     index_or_none(counts.queues), index_or_none(ops)});
  }
  for (std::size_t i = any_count(); i > 0; --i) {
    b.add(FrameRecord{any_length(), length_or_absent(), length_or_absent(), length_or_absent(), length_or_absent(),
                      length_or_absent(), length_or_absent(), length_or_absent(), *rc::gen::arbitrary<std::uint32_t>(),
                      index_below(counts.swapchains), *rc::gen::arbitrary<bool>()});
  }
  for (std::size_t i = any_count(); i > 0; --i) {
    b.add(MarkRecord{any_length(), any_length(), StringId{index_or_none(counts.strings)}, index_below(counts.threads)});
  }
  for (std::size_t i = any_count(); i > 0; --i) {
    b.add(DrawRecord{any_length(), any_length(), *rc::gen::arbitrary<std::uint32_t>(),
                     *rc::gen::arbitrary<std::uint32_t>(), index_below(counts.swapchains)});
  }
}

void add_counters(TimelineBuilder& b, const Counts& counts) {
  const auto ppm = [] { return *rc::gen::inRange<std::uint32_t>(0, CounterRecord::kMost + 1); };
  for (std::size_t i = any_count(); i > 0; --i) {
    b.add(CounterRecord{StringId{index_or_none(counts.strings)}, index_or_none(counts.shapes),
                        *rc::gen::arbitrary<std::uint32_t>(), any_length(), ppm(), ppm(), ppm(), ppm(), ppm()});
  }
}

void add_origin(TimelineBuilder& b) {
  const auto any_bool = [] { return *rc::gen::arbitrary<bool>(); };
  b.fidelity() = {any_bool(), any_bool(), any_bool(), any_bool(), any_bool(), any_bool(), any_bool(), any_bool()};
  Provenance& p = b.provenance();
  p.source_format = *rc::gen::arbitrary<std::string>();
  p.content_hash = *rc::gen::arbitrary<std::string>();
  p.clock = *rc::gen::arbitrary<std::string>();
  p.origin_ns = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000);
  p.skipped = *rc::gen::arbitrary<std::map<std::string, std::uint64_t>>();
  p.notes = *rc::gen::arbitrary<std::vector<std::string>>();
  p.programs = *rc::gen::arbitrary<std::map<std::uint64_t, std::string>>();
  p.tracer_ns = *rc::gen::arbitrary<std::int64_t>();
  if (any_bool()) {
    p.untraced_rate = UntracedRate{.launches = *rc::gen::inRange<std::uint64_t>(1, UINT64_MAX),
                                   .duration_ns = *rc::gen::inRange<std::int64_t>(1, INT64_MAX),
                                   .jitter_ppm = *rc::gen::arbitrary<std::uint32_t>()};
  }
  p.power.resize(any_count());
  for (PowerMean& mean : p.power)
    mean = {.device = *rc::gen::arbitrary<std::uint32_t>(),
            .watts = static_cast<double>(*rc::gen::inRange(1, 100'000)),
            .sm_mhz = static_cast<double>(*rc::gen::inRange(0, 100'000))};
  p.host_use.resize(any_count());
  for (HostUse& use : p.host_use) {
    use = {.process = *rc::gen::arbitrary<std::uint64_t>(), .thread = *rc::gen::arbitrary<std::uint64_t>()};
    use.span_ns = *rc::gen::inRange<std::int64_t>(1, INT64_MAX);
    use.running_ns = *rc::gen::inRange<std::int64_t>(0, use.span_ns);
    use.waiting_ns = *rc::gen::inRange<std::int64_t>(0, use.span_ns);
  }
  p.devices.resize(any_count());
  for (CapturedDevice& device : p.devices) {
    device.name = *rc::gen::arbitrary<std::string>();
    device.memory_bytes = *rc::gen::arbitrary<std::uint64_t>();
    device.registers_per_sm = *rc::gen::arbitrary<std::uint32_t>();
  }
}

Timeline any_timeline() {
  TimelineBuilder b;
  const Counts counts = add_dictionaries(b);
  add_rows(b, counts);
  add_counters(b, counts);
  add_origin(b);
  return std::move(b).seal();
}

RC_GTEST_PROP(NativeProperty, AnyTimelineSurvivesTheRoundTrip, ()) {
  const Timeline timeline = any_timeline();
  RC_ASSERT(read_native(encode_native(timeline), "a.corun") == timeline);
}

RC_GTEST_PROP(NativeProperty, SealingTwiceChangesNothing, ()) {
  const Timeline timeline = any_timeline();
  const Timeline again = read_native(encode_native(timeline), "a.corun");
  RC_ASSERT(encode_native(again) == encode_native(timeline));
}

}  // namespace
}  // namespace corun
