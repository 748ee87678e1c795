// A program that writes into the memory of its gate what no gate writes:
//
//   live_evil MANNER
//
// It takes a slot as a gate does, then does harm in one of many manners, and goes on until a signal ends it.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "tracer/gate/channel/handover.h"
#include "tracer/gate/channel/link.h"
#include "tracer/gate/channel/word.h"
#include "tracer/guest/part_file.h"

namespace {

using namespace corun::gate;
using corun::guest::monotonic_ns;

GateLink link_of_ours;
Lane& lane() { return link_of_ours.lane(); }

template <class Fill>
std::uint64_t launch(Fill fill) {
  const std::uint64_t number = launches_of(lane().gate.fetch_add(1));
  Launch& entry = lane().launches[number % kDepth];
  entry.submitted_ns = monotonic_ns();
  entry.kind = LaunchKind::kKernel;
  entry.blocks = entry.threads = 1;
  entry.slot = link_of_ours.slot_mark();
  fill(entry);
  entry.ready = number + 1;
  link_of_ours.ring();
  return number;
}

template <class Fill>
void end(std::uint64_t number, Fill fill) {
  usleep(100'000);
  Launch& entry = lane().launches[number % kDepth];
  entry.begin_ns = entry.end_ns = monotonic_ns();
  entry.device_ns = entry.group = 1;
  fill(entry);
  Slot& slot = link_of_ours.slot();
  const std::uint64_t count = slot.done_count;
  slot.done[count % kDepth] = number;
  slot.done_count = count + 1;
  link_of_ours.ring();
}

template <class Fill>
void frame(Fill fill) {
  const std::uint64_t place = lane().frame_count;
  for (int i = 0; place - lane().frames_read >= kFrameDepth && i < 1000; ++i) usleep(50);
  FrameRecord& record = lane().frames[place % kFrameDepth];
  record.number = place;
  record.moment = FrameMoment::kBegin;
  record.at_ns = monotonic_ns();
  record.gpu_begin_ns = record.gpu_end_ns = record.gpu_busy_ns = 0;
  fill(record);
  record.ready = place + 1;
  lane().frame_count = place + 1;
  link_of_ours.ring();
}

constexpr auto kNothing = [](auto&) {};

void overlap_names() {
  std::memset(lane().name_text, 'A', kNameBytes);
  for (std::uint32_t i = 1; i < kMostNames; ++i) {
    lane().name_at[i] = i;
    launch([=](Launch& entry) { entry.name = i; });
  }
}

void end_all_the_time() {
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t number = launch(kNothing);
    Slot& slot = link_of_ours.slot();
    slot.done[slot.done_count % kDepth] = number;
    slot.done_count.fetch_add(1);
  }
}

// What the memory is, again and again.
void fill_with_noise() {
  std::uint64_t word = 88172645463325252;
  auto* words = reinterpret_cast<std::uint64_t*>(&lane());
  for (int round = 0; round < 20; ++round)
    for (std::size_t i = 0; i < sizeof(Lane) / sizeof(word); ++i) {
      word ^= word << 13, word ^= word >> 7, word ^= word << 17;
      words[i] = word;
    }
}

void shorten() {
  Memory memory;
  if (receive(getenv(kFileVariable), memory, 1'000'000'000) != Receipt::kReceived) _exit(3);
  if (ftruncate(memory.lane, 0) == 0 || ftruncate(memory.common, 0) == 0) _exit(4);
}

const std::map<std::string, std::function<void()>> kManners = {
    {"nothing", [] {}},
    {"name", [] { launch([](Launch& entry) { entry.name = UINT32_MAX; }); }},
    {"huge_name", [] { launch([](Launch& entry) { entry.name = UINT32_MAX - 1; }); }},
    {"place_of_name",
     [] {
       lane().name_at[5] = 0xfffffff0;
       end(launch([](Launch& entry) { entry.name = 5; }), kNothing);
     }},
    {"endless_name",
     [] {
       std::memset(lane().name_text, 'A', kNameBytes);
       lane().name_at[5] = 1;
       end(launch([](Launch& entry) { entry.name = 5; }), kNothing);
     }},
    {"names", overlap_names},
    {"kind", [] { launch([](Launch& entry) { entry.kind = static_cast<LaunchKind>(77); }); }},
    {"size", [] { end(launch([](Launch& entry) { entry.blocks = entry.bytes = UINT64_MAX; }), kNothing); }},
    {"negative_time", [] { end(launch(kNothing), [](Launch& entry) { entry.device_ns = INT64_MIN; }); }},
    {"huge_time", [] { end(launch(kNothing), [](Launch& entry) { entry.device_ns = INT64_MAX; }); }},
    {"end", [] { end(launch(kNothing), [](Launch& entry) { entry.end_ns = INT64_MIN; }); }},
    {"submitted", [] { end(launch([](Launch& entry) { entry.submitted_ns = INT64_MIN; }), kNothing); }},
    {"submitted_late", [] { end(launch([](Launch& entry) { entry.submitted_ns = INT64_MAX; }), kNothing); }},
    {"group", [] { end(launch(kNothing), [](Launch& entry) { entry.group = UINT32_MAX; }); }},
    {"unknown_end", [] { end(123'456'789, kNothing); }},
    {"gate", [] { lane().gate = UINT64_MAX; }},
    {"open_gate", [] { lane().gate.fetch_and(~kClosed); }},
    {"done_count", [] { link_of_ours.slot().done_count = UINT64_MAX; }},
    {"retired", [] { lane().retired = UINT64_MAX; }},
    {"many_launches",
     [] {
       for (std::uint64_t i = 0; i < 4 * kDepth; ++i) launch(kNothing);
     }},
    {"ends", end_all_the_time},
    {"slots_used",
     [] {
       lane().slots_used = UINT32_MAX;
       lane().slots[3].process = 1;
     }},
    {"turn", [] { lane().slots[0].turn = UINT32_MAX; }},
    {"frames",
     [] {
       for (int i = 0; i < 20'000; ++i) frame(kNothing);
     }},
    {"moment", [] { frame([](FrameRecord& record) { record.moment = static_cast<FrameMoment>(9); }); }},
    {"frame_time", [] { frame([](FrameRecord& record) { record.at_ns = INT64_MIN; }); }},
    {"frame_end",
     [] {
       frame([](FrameRecord& record) { record.number = 0; });
       frame([](FrameRecord& record) {
         record.number = 0;
         record.moment = FrameMoment::kEnd;
         record.gpu_end_ns = INT64_MAX;
         record.gpu_busy_ns = INT64_MIN;
       });
     }},
    {"frame_number", [] { frame([](FrameRecord& record) { record.number = UINT64_MAX; }); }},
    {"noise", fill_with_noise},
    {"shorter", shorten},
};

}  // namespace

int main(int count, char** arguments) {
  alarm(60);  // whatever becomes of the test
  const auto manner = kManners.find(count > 1 ? arguments[1] : "");
  if (manner == kManners.end()) return 2;
  if (!link_of_ours.open() || !link_of_ours.take_slot()) return 3;
  manner->second();
  for (;;) pause();
}
