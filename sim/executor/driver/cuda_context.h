#pragma once

#include <cstdint>

#include "sim/executor/driver/cuda_driver.h"

namespace corun::executor {

/// A context of this process on a device, current from its making to its end: the device's primary one or, under MPS,
/// one whose kernels get a part of the SMs.
class CudaContext {
 public:
  /// `sm_cap` in (0, 1]; the driver rounds up to SMs that it can give. Throws Error(kUnsupported) for less than 1
  /// outside MPS.
  CudaContext(const CudaDriver& cuda, CudaDevice device, double sm_cap);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  std::uint32_t capped_sms() const { return capped_sms_; }  ///< that the driver gave; 0 = it has no cap

 private:
  void take_primary();
  void make_capped(double sm_cap);

  const CudaDriver& cuda_;
  const CudaDevice device_;
  CudaHandle context_ = nullptr;
  std::uint32_t capped_sms_ = 0;
};

}  // namespace corun::executor
