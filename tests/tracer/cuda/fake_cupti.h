#pragma once

#include <cstdint>

/// What the fake libcupti.so.13 offers besides CUPTI's own functions: the work that a program would give to CUDA.
extern "C" {

/// `count` calls of cudaLaunchKernel on the calling thread, each with its driver call and its kernel.
void fake_cuda_launch(std::uint32_t count);

/// The calls of other functions of the driver that the script asks for, one after the other.
void fake_cuda_calls();

/// Waits, for at most a minute, until neither kernels nor launches are recorded any longer.
void fake_cuda_await_disabled();
}
