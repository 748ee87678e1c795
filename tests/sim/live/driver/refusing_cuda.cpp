// A CUDA driver that refuses every call of driver_calls.h with an error that depends on its arguments, of which it
// reads none, and reports it to a fake CUPTI. What a gate asks for itself it does.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/sim/live/driver/fake_cuda.h"
#include "tracer/gate/driver/calls.h"
#include "tracer/gate/driver/driver_calls.h"

namespace {

using Word = std::uint64_t;

char context;

int refuse(std::uint32_t function, const Word* words, std::size_t count) {
  corun::gate::KernelParameters kernel;
  const void* parameters = corun::gate::lay_out(function, words, kernel);
  std::uint64_t shared = 0;
  fake_callback(0, function, parameters, nullptr, nullptr, &context, &shared);
  std::uint64_t mixed = function;
  for (std::size_t i = 0; i < count; ++i) mixed = (mixed ^ words[i]) * 0x9E37'79B9'7F4A'7C15 >> 7;
  const int result = 1 + static_cast<int>(mixed % 500);
  fake_callback(1, function, parameters, &result, nullptr, &context, &shared);
  return result;
}

int initialise() {
  static bool is_initialised = false;
  if (is_initialised) return 0;
  is_initialised = true;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library != nullptr) reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
  return 0;
}

template <std::uint32_t kFunction, class... Words>
int answer(Words... words) {
  const Word given[] = {words..., 0};
  if constexpr (kFunction == corun::gate::cbid::cuInit)
    if (given[0] == 0) return initialise();
  return refuse(kFunction, given, sizeof...(words));
}

}  // namespace

#define TAKE_0
#define TAKE_1 Word a
#define TAKE_2 TAKE_1, Word b
#define TAKE_3 TAKE_2, Word c
#define TAKE_4 TAKE_3, Word d
#define TAKE_5 TAKE_4, Word e
#define TAKE_6 TAKE_5, Word f
#define TAKE_8 TAKE_6, Word g, Word h
#define TAKE_9 TAKE_8, Word i
#define TAKE_10 TAKE_9, Word j
#define TAKE_11 TAKE_10, Word k
#define GIVE_0
#define GIVE_1 a
#define GIVE_2 GIVE_1, b
#define GIVE_3 GIVE_2, c
#define GIVE_4 GIVE_3, d
#define GIVE_5 GIVE_4, e
#define GIVE_6 GIVE_5, f
#define GIVE_8 GIVE_6, g, h
#define GIVE_9 GIVE_8, i
#define GIVE_10 GIVE_9, j
#define GIVE_11 GIVE_10, k

namespace refusing {
extern "C" {
#define REFUSE(name, function, since, arguments, role)                                       \
  __attribute__((visibility("default"))) int refuse_##name(TAKE_##arguments) __asm__(#name); \
  int refuse_##name(TAKE_##arguments) { return answer<function>(GIVE_##arguments); }
CORUN_DRIVER_CALLS(REFUSE)
}
}  // namespace refusing

extern "C" {
int cuCtxGetCurrent(void** current) { return *current = &context, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int refuse_event_create(void** event, unsigned) __asm__("cuEventCreate");
int refuse_event_create(void** event, unsigned) { return *event = &context, 0; }
int refuse_event_record(void*, void*) __asm__("cuEventRecord");
int refuse_event_record(void*, void*) { return 0; }
int cuEventQuery(void*) { return 0; }
int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 0, 0; }
int cuStreamIsCapturing(void*, int* status) { return *status = 0, 0; }
int cuThreadExchangeStreamCaptureMode(int*) { return 0; }
int cuGraphGetNodes(void*, void**, std::size_t*) { return 1; }
int cuGraphNodeGetType(void*, int*) { return 1; }
int cuGraphKernelNodeGetParams_v2(void*, void*) { return 1; }
}
