#include "tracer/gate/process_gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "tracer/gate/channel/link.h"
#include "tracer/guest/kept_errno.h"

namespace corun::gate {

constinit Gate process_gate;

namespace {

constinit std::atomic<bool> has_started{false};

// As soon as the program is there: it may never use CUDA. A scheduler that does not answer holds up no program that
// uses none; one that does use it asks again.
__attribute__((constructor)) void begin() {
  const guest::KeptErrno kept;
  GateLink link;
  if (!link.open_at_once()) return;
  link.leave_former_slots();
  link.close();
}

void finish() { process_gate.finish(); }
void abandon() { process_gate.abandon(); }

}  // namespace

void start_process_gate(Interception interception, Obstacle (*take_calls)(), void (*leave_calls)()) {
  if (has_started.exchange(true) || !process_gate.open()) return;
  pthread_atfork(nullptr, nullptr, &abandon);
  if (const Obstacle obstacle = take_calls(); obstacle != Obstacle::kNone) return process_gate.give_up(obstacle);
  if (!process_gate.start(interception)) return leave_calls();
  atexit(&finish);
}

}  // namespace corun::gate
