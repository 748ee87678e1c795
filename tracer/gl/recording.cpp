#include "tracer/gl/recording.h"

#include <atomic>

#include "tracer/gate/frame_gate.h"
#include "tracer/gl/current.h"

namespace corun::gl {

constinit Recording recording;

namespace {

enum class Start { kNotYet, kUnderWay, kDone, kRefused };
std::atomic<Start> started{Start::kNotYet};

// In the child of a fork, the thread that holds the lock does not exist.
void give_up_in_child() {
  started = Start::kRefused;
  recording.lock = PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((destructor)) void end_of_process() {
  gate::frame_gate.stop();
  if (!recording.is_on()) return;
  const Passage passage;
  for (int i = 0; i < Contexts::kMost; ++i) {
    Context* context = recording.contexts.at(i);
    if (context != nullptr && context->handle != nullptr) context->drain(recording.log);
  }
  recording.log.end(recording.has_no_queries ? part::EndReason::kNoQueries : part::EndReason::kExit);
}

}  // namespace

bool Recording::start() {
  Start known = started.load();
  if (known != Start::kNotYet) return known == Start::kDone && is_on();
  if (!started.compare_exchange_strong(known, Start::kUnderWay)) return false;
  pthread_atfork(nullptr, nullptr, &give_up_in_child);
  const bool is_recording = log.start(part::Source::kGl, 0);
  started = is_recording ? Start::kDone : Start::kRefused;
  return is_recording;
}

}  // namespace corun::gl
