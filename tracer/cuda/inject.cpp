#include <pthread.h>
#include <stdlib.h>

#include <atomic>

#include "tracer/cuda/cuda_capture.h"
#include "tracer/guest/kept_errno.h"

/// The library that the CUDA driver loads into a program when CUDA_INJECTION64_PATH names it.
namespace corun::cupti {
namespace {

constinit CudaCapture capture;
constinit std::atomic<bool> was_here{false};

void on_call(void*, std::uint32_t domain, std::uint32_t function, const void* site) {
  const guest::KeptErrno kept;
  capture.on_call(domain, function, *static_cast<const CallbackSite*>(site));
}

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  const guest::KeptErrno kept;
  *buffer = capture.request_buffer();
  *size = BufferPool::kBufferBytes;
  *most_records = 0;  // as many as fit
}

void complete_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const guest::KeptErrno kept;
  capture.complete_buffer(context, stream, buffer, valid);
}

std::int64_t work(bool is_last) { return capture.work(is_last); }
void finish() { capture.finish(); }
void abandon() { capture.abandon(); }

void start() {
  const guest::KeptErrno kept;
  const guest::Settings settings = guest::read_settings();
  if (settings.directory[0] == '\0' || !settings.cuda) return;
  pthread_atfork(nullptr, nullptr, &abandon);
  if (capture.start(settings, {&on_call, &request_buffer, &complete_buffer, &work})) atexit(&finish);
}

}  // namespace
}  // namespace corun::cupti

/// Called by the driver inside cuInit(). Always 1: no error here is the program's concern.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!corun::cupti::was_here.exchange(true)) corun::cupti::start();
  return 1;
}
