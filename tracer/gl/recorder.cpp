#include "tracer/gl/recorder.h"

#include <string.h>

#include <algorithm>

#include "tracer/gate/frame_gate.h"
#include "tracer/gl/calls/stubs.h"
#include "tracer/gl/calls/symbols.h"
#include "tracer/gl/current.h"
#include "tracer/gl/gate_frames.h"
#include "tracer/gl/recording.h"
#include "tracer/guest/kept_errno.h"

namespace corun::gl {

namespace {

using guest::monotonic_ns;

Swapchain* chain_of(const Context& context) {
  return context.chain != nullptr ? context.chain : recording.swapchains.newest();
}

Swapchain* find_known_chain(void* display, std::uintptr_t surface, std::int64_t now_ns) {
  const Locked locked;
  Swapchain* chain = recording.swapchains.find(display, surface);
  if (chain != nullptr) chain->last_swap_ns = now_ns;
  return chain;
}

// A surface is current in one thread at a time, so no other thread adds it meanwhile.
Swapchain* find_chain(const Context* context, void* display, std::uintptr_t surface, std::int64_t now_ns) {
  Swapchain* chain = find_known_chain(display, surface, now_ns);
  if (chain != nullptr) return chain;
  std::uint32_t width = 0, height = 0;
  if (context != nullptr) context->api.read_viewport(width, height);
  const std::uint32_t number = recording.log.swapchain(context == nullptr ? "" : context->api.renderer, width, height,
                                                       context != nullptr && context->api.is_over_vulkan);
  const Locked locked;
  chain = recording.swapchains.add(display, surface, now_ns);
  chain->number = number;
  chain->begin_frame(recording.log, now_ns);
  return chain;
}

void file_visit(Context& context, Swapchain& chain, const Submission& submission, std::int64_t end_ns) {
  part::VisitRecord visit{};
  visit.submit_ns = submission.begin_ns;
  visit.submit_end_ns = end_ns;
  visit.frame = chain.current_frame();
  visit.thread = guest::thread_id();
  visit.is_wait = submission.is_wait ? 1 : 0;
  visit.swapchain = chain.number;
  chain.add_visit();
  context.visits.submitted(visit, recording.log);
}

// The first call of a frame may wait for the frame before: the program's, or our stamp that now comes before it. What
// counts as ours is what the second stamp takes.
void close_visit(Submission& submission, std::int64_t begin_ns) {
  Context* context = corun_gl_thread.context;
  if (context != nullptr && context->visits.is_open() && context->enter()) {
    context->visits.close();
    context->leave();
    submission.context = context;
  }
  submission.begin_ns = monotonic_ns();
  submission.tracer_ns = submission.begin_ns - begin_ns;
  if (submission.context != nullptr) submission.tracer_ns += std::min(context->open_ns, submission.tracer_ns);
}

// A context of a thread that shows nothing has no better time for it; nor has one with many submissions in a frame.
bool is_to_be_looked_after(const Context& context) {
  return context.chain == nullptr || context.visits.in_flight() > Visits::kInFlight / 2;
}

// Between glBegin and glEnd GL takes display lists, but no stamps.
bool may_stamp_before(const void* stub) { return strncmp(name_of(stub), "glCallList", 10) != 0; }

void tell_work(Context& context, Swapchain& chain, const void* stub, std::int64_t begin_ns) {
  if (!context.visits.is_open()) {
    context.visits.open({chain.current_frame(), chain.number, chain.is_sampled});
    context.open_ns = monotonic_ns() - begin_ns;
  } else if (context.visits.wants_calls()) {
    context.visits.call(may_stamp_before(stub));
    chain.add_tracer_ns(monotonic_ns() - begin_ns);
  }
}

// Leaves the thread unsettled: work is still to come.
void end_pass(const Thread& thread) {
  Context* context = thread.context;
  if (thread.is_inside || thread.is_compiling || context == nullptr || !context->enter()) return;
  context->visits.end_pass();
  context->leave();
}

}  // namespace

extern "C" void corun_gl_before_work(const void* stub) {
  Thread& thread = corun_gl_thread;
  if (ends_pass(stub)) return end_pass(thread);
  thread.is_settled = true;
  if (thread.is_inside || thread.is_compiling) return;
  const guest::KeptErrno kept;
  gate::frame_gate.begin();
  if (!recording.is_on()) return;
  const std::int64_t begin_ns = monotonic_ns();
  thread.is_inside = true;
  Context* context = current_context();
  Swapchain* chain = context == nullptr ? nullptr : chain_of(*context);
  if (chain != nullptr && chain->is_wanted && context->enter()) {
    tell_work(*context, *chain, stub, begin_ns);
    thread.is_settled = !context->visits.wants_calls();
    context->leave();
  }
  thread.is_inside = false;
}

void look_after_current() {
  const guest::KeptErrno kept;
  Context* context = corun_gl_thread.context;
  if (corun_gl_thread.is_compiling || context == nullptr || !recording.is_on() || !context->enter()) return;
  const std::int64_t begin_ns = monotonic_ns();
  context->look_after(begin_ns, recording.log);
  context->leave();
  if (Swapchain* chain = chain_of(*context)) chain->add_tracer_ns(monotonic_ns() - begin_ns);
}

Submission begin_submission(bool is_wait) {
  const guest::KeptErrno kept;
  Submission submission;
  if (corun_gl_thread.is_compiling || !recording.is_on()) return submission;
  submission.is_wait = is_wait;
  close_visit(submission, monotonic_ns());
  return submission;
}

void end_submission(Submission& submission) {
  const guest::KeptErrno kept;
  const std::int64_t end_ns = monotonic_ns();
  Context* context = submission.context;
  Swapchain* chain = context == nullptr ? nullptr : chain_of(*context);
  if (chain == nullptr || !context->enter()) return;
  file_visit(*context, *chain, submission, end_ns);
  if (!submission.is_last && is_to_be_looked_after(*context)) context->look_after(end_ns, recording.log);
  context->leave();
  chain->add_tracer_ns(submission.tracer_ns + monotonic_ns() - end_ns);
}

Swap begin_swap(Platform platform, void* display, std::uintptr_t surface, const void* real) {
  const guest::KeptErrno kept;
  Swap swap;
  gate_frames.before_swap(platform, display, real);
  if (!recording.start()) return swap;
  const std::int64_t begin_ns = monotonic_ns();
  corun_gl_thread.is_compiling = false;
  ask_for_current(platform, display, surface, real);
  Context* context = current_context();
  swap.chain = find_chain(context, display, surface, begin_ns);
  if (context != nullptr) context->chain = swap.chain;
  close_visit(swap.submission, begin_ns);
  return swap;
}

void end_swap(Swap& swap, bool is_shown) {
  gate_frames.after_swap(is_shown);
  if (swap.chain == nullptr) return;
  const guest::KeptErrno kept;
  const std::int64_t end_ns = monotonic_ns();
  Swapchain& chain = *swap.chain;
  Context* context = corun_gl_thread.context;
  if (context != nullptr && context->enter()) {
    if (swap.submission.context == context) file_visit(*context, chain, swap.submission, end_ns);
    context->look_after(end_ns, recording.log);
    context->leave();
  }
  chain.add_tracer_ns(swap.submission.tracer_ns + monotonic_ns() - end_ns);
  if (!is_shown) return;
  recording.log.present({{},
                         swap.submission.begin_ns,
                         end_ns,
                         chain.take_tracer_ns(),
                         chain.current_frame(),
                         guest::thread_id(),
                         chain.number,
                         chain.take_visits(),
                         0});
  chain.begin_frame(recording.log, end_ns);
  recording.swapchains.set_newest(&chain);
}

}  // namespace corun::gl
