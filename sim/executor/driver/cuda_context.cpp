#include "sim/executor/driver/cuda_context.h"

#include <algorithm>
#include <cmath>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr CudaResult kNoAffinities = 224;  // CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY

}  // namespace

CudaContext::CudaContext(const CudaDriver& cuda, CudaDevice device, double sm_cap) : cuda_(cuda), device_(device) {
  if (sm_cap < 1.0) {
    make_capped(sm_cap);
  } else {
    take_primary();
  }
}

CudaContext::~CudaContext() {
  if (capped_sms_ > 0) {
    cuda_.context_destroy(context_);
  } else {
    cuda_.context_release(device_);
  }
}

void CudaContext::take_primary() {
  cuda_.check(cuda_.context_retain(&context_, device_), "making a context");
  cuda_.check(cuda_.context_set(context_), "entering the context");
}

void CudaContext::make_capped(double sm_cap) {
  int sms = 0;
  cuda_.check(cuda_.device_attribute(&sms, kSmCount, device_), "asking for the device's SMs");
  CudaAffinity affinity;
  affinity.sm_count = static_cast<unsigned>(std::max(1L, std::lround(sm_cap * sms)));
  const CudaResult made = cuda_.context_create(&context_, &affinity, 1, 0, device_);
  if (made == kNoAffinities)
    throw Error(ErrorKind::kUnsupported, "a cap of SMs: contexts outside MPS have none; run it with --mps");
  cuda_.check(made, "making a context with a cap of SMs");
  cuda_.check(cuda_.context_affinity(&affinity, affinity.kind), "asking for the context's SMs");
  capped_sms_ = std::max(affinity.sm_count, 1U);
}

}  // namespace corun::executor
