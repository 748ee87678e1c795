#include <pthread.h>
#include <stdlib.h>

#include <atomic>

#include "tracer/cuda/cuda_capture.h"
#include "tracer/cuda/nvtx.h"
#include "tracer/guest/kept_errno.h"

/// The library that the CUDA driver loads into a program when CUDA_INJECTION64_PATH names it, and the program's own
/// NVTX when NVTX_INJECTION64_PATH does.
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

bool is_range_wanted() { return capture.takes_ranges(); }
std::uint32_t name_range(const char* text) { return capture.range_name(text); }
void on_range(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t name) {
  capture.on_range(start_ns, end_ns, name);
}

// NVTX calls nothing of ours where this is false: a counting pass has no cost by ranges.
bool start_ranges(nvtx::GetExportTable get_table) {
  const guest::KeptErrno kept;
  const guest::Settings settings = guest::read_settings();
  const bool has_detail =
      settings.cuda_detail == part::Detail::kKernels || settings.cuda_detail == part::Detail::kCalls;
  if (settings.directory[0] == '\0' || !settings.cuda || !has_detail) return false;
  return nvtx::install(get_table, {&is_range_wanted, &name_range, &on_range});
}

}  // namespace
}  // namespace corun::cupti

/// Called by the driver inside cuInit(). Always 1: no error here is the program's concern.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!corun::cupti::was_here.exchange(true)) corun::cupti::start();
  return 1;
}

/// Called by NVTX at a program's first range, before or after cuInit(). 1: the hooks are in place.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(corun::nvtx::GetExportTable get_table) {
  return corun::cupti::start_ranges(get_table) ? 1 : 0;
}
