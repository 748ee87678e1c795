#include "experiments/commands/hardware/hardware_options.h"

#include <filesystem>

namespace corun {

void add_gpu_options(Command& command, GpuOptions& options) {
  command.option("--gpu", &options.gpu, "Number of the device").range(0, 1023);
  command.option("--driver", &options.driver, "Library of the CUDA driver");
}

void add_hardware_options(Command& command, HardwareOptions& options) {
  add_gpu_options(command, options.device);
  command.option("--worker", &options.worker, "Program of a client's process; corun-worker if not given");
  command
      .option("--processors", &options.processors,
              "Processors to pin to: the scheduler's, then one a client; none = leave all unpinned")
      .comma_separated()
      .means("none", "-1");
}

void add_kernel_frames_option(Command& command, HardwareOptions& options) {
  command.flag("--kernel-frames", &options.has_kernel_frames, "Frames by kernels, not by OpenGL");
}

executor::ExecuteOptions execute_options(const HardwareOptions& options) {
  executor::ExecuteOptions out;
  out.worker = options.worker.empty() ? beside_this_program("corun-worker") : options.worker;
  out.library = options.device.driver;
  out.device = options.device.gpu;
  out.renders = !options.has_kernel_frames;
  out.processors = options.processors;
  return out;
}

std::string beside_this_program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace corun
