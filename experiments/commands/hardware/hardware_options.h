#pragma once

#include <string>
#include <vector>

#include "experiments/commands/command_line.h"
#include "sim/executor/execute.h"

namespace corun {

/// Options that several commands share, and the functions that add them.

struct GpuOptions {
  int gpu = 0;
  std::string driver = "libcuda.so.1";
};
void add_gpu_options(Command& command, GpuOptions& options);

/// Options of commands that run clients on a GPU.
struct HardwareOptions {
  GpuOptions device;
  std::string worker;           ///< "" = corun-worker in the folder of this program
  std::vector<int> processors;  ///< the scheduler's, then one for each client; empty = chosen, -1 = none is pinned
  bool has_kernel_frames = false;
};
void add_hardware_options(Command& command, HardwareOptions& options);
void add_kernel_frames_option(Command& command, HardwareOptions& options);
executor::ExecuteOptions execute_options(const HardwareOptions& options);

/// A program that was built with this one.
std::string beside_this_program(const std::string& name);

}  // namespace corun
