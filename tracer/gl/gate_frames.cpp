#include "tracer/gl/gate_frames.h"

#include "tracer/gate/frame_gate.h"
#include "tracer/gl/calls/everywhere.h"
#include "tracer/guest/kept_errno.h"
#include "tracer/preload/scopes.h"

constinit corun::gate::FrameGate corun::gate::frame_gate{corun::gate::FrameTeller::kGl};

namespace corun::gl {

constinit GateFrames gate_frames;

namespace {

using gate::frame_gate;

constexpr unsigned kFence = 0x30F9;  // EGL_SYNC_FENCE
constexpr int kTimedOut = 0x30F5;

}  // namespace

void GateFrames::find_functions(const void* real) {
  if (functions_.create != nullptr) return;
  const auto find = [&](const char* name) {
    void* found = preload::find_in_scope_of(real, name);
    return found != nullptr ? found : find_anywhere(name);
  };
  functions_.wait = reinterpret_cast<decltype(functions_.wait)>(find("eglClientWaitSync"));
  functions_.destroy = reinterpret_cast<decltype(functions_.destroy)>(find("eglDestroySync"));
  const auto create = reinterpret_cast<decltype(functions_.create)>(find("eglCreateSync"));
  if (functions_.wait != nullptr && functions_.destroy != nullptr) functions_.create = create;
}

bool GateFrames::has_passed(void* display, void* sync) {
  return gate_frames.functions_.wait(display, sync, 0, 0) != kTimedOut;
}

void GateFrames::destroy(void* display, void* sync) { gate_frames.functions_.destroy(display, sync); }

void GateFrames::before_swap(Platform platform, void* display, const void* real) {
  const guest::KeptErrno kept;
  if (!frame_gate.begin()) return;
  is_fenced_ = false;
  if (platform != Platform::kEgl) return;
  find_functions(real);
  void* sync = functions_.create == nullptr ? nullptr : functions_.create(display, kFence, nullptr);
  if (sync == nullptr) return;
  is_fenced_ = true;
  frame_gate.await({display, sync, &has_passed, &destroy}, true);
}

void GateFrames::after_swap(bool is_shown) {
  if (!frame_gate.is_on() || !is_shown) return;
  const guest::KeptErrno kept;
  frame_gate.present(is_fenced_);
}

}  // namespace corun::gl
