#include "tracer/gl/contexts.h"

#include <sys/mman.h>

#include <new>

namespace corun::gl {
namespace {

Context* allocate() {
  void* memory = mmap(nullptr, sizeof(Context), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Context*>(memory);
}

}  // namespace

void Context::look_after(std::int64_t now_ns, guest::FrameLog& log) {
  visits.read_clock(now_ns);
  visits.collect(log);
}

void Context::drain(guest::FrameLog& log) {
  if (!enter()) return;
  visits.drain(log);
  leave();
}

Context* Contexts::find(Platform platform, void* handle) {
  for (Context* context : contexts_) {
    if (context != nullptr && context->handle == handle && context->platform == platform) return context;
  }
  return nullptr;
}

Context* Contexts::add(Platform platform, void* handle) {
  for (Context*& entry : contexts_) {
    if (entry != nullptr && entry->handle != nullptr) continue;
    if (entry == nullptr) entry = allocate();
    if (entry == nullptr) return nullptr;
    Context* context = new (entry) Context;
    context->platform = platform;
    context->handle = handle;
    return context;
  }
  return nullptr;
}

}  // namespace corun::gl
