// A game without graphics: reports frames to the scheduler as the GL library does, and renders on no device.
//
//   live_frames PERIOD_MS RENDER_MS [torn]
//   live_frames torn_launch
//
// A frame every so many ms, each of so long, until a signal ends it. It obeys CORUN_QUALITY: at level n, a frame takes
// RENDER_MS divided by n + 1. Torn: once it takes the place of a record and does not fill it, as a process that is
// killed just then. The second one is killed between taking a launch's number and saying what it is.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tracer/gate/channel/link.h"
#include "tracer/guest/part_file.h"

namespace {

using corun::gate::FrameMoment;
using corun::guest::monotonic_ns;
std::atomic<bool> is_to_end{false};

void sleep_until(std::int64_t ns) {
  const timespec until{ns / 1'000'000'000, ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

const std::uint32_t* quality_level() {
  static const std::uint32_t kBest = 0;
  const char* path = std::getenv("CORUN_QUALITY");
  const int descriptor = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return &kBest;
  return static_cast<const std::uint32_t*>(mmap(nullptr, sizeof(kBest), PROT_READ, MAP_SHARED, descriptor, 0));
}

int take_number_and_die() {
  corun::gate::GateLink link;
  if (!link.open() || !link.take_slot()) return 3;
  link.lane().gate.fetch_add(1);
  _exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "torn_launch") == 0) return take_number_and_die();
  if (count < 3) return 2;
  alarm(120);  // whatever becomes of the test
  signal(SIGTERM, [](int) { is_to_end = true; });
  corun::gate::GateLink link;
  if (!link.open() || !link.claim_frames(corun::gate::FrameTeller::kGl)) return 3;
  const std::int64_t period = std::atoll(arguments[1]) * 1'000'000, render = std::atoll(arguments[2]) * 1'000'000;
  const volatile std::uint32_t* level = quality_level();
  std::int64_t next = monotonic_ns();
  for (std::uint64_t frame = 0; !is_to_end; ++frame, next += period) {
    sleep_until(next);
    if (count > 3 && frame == 10) link.lane().frame_count.fetch_add(1);
    const std::int64_t begin = monotonic_ns();
    link.tell_frame(FrameMoment::kBegin, frame, begin);
    link.tell_frame(FrameMoment::kPresent, frame, monotonic_ns());
    sleep_until(begin + render / (*level + 1));
    link.tell_frame(FrameMoment::kEnd, frame, monotonic_ns(), begin);
  }
  return 0;
}
