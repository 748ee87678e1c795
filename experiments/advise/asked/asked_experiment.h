#pragma once

#include <string>
#include <vector>

#include "experiments/advise/asked/asked_program.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// Programs of which something is asked, and the GPU that their experiment names.
struct AskedPrograms {
  std::vector<AskedProgram> programs;
  std::string gpu{};  ///< "" = no experiment is among the words
};

/// A word is a capture, as for asked_programs(), or an experiment file (`.yaml`, `.yml`) with one scenario, which
/// stands for all of its clients: their keys with its `defaults`, and paths that begin where it does. Throws
/// InvalidInput or Error(kInput), located in the experiment, where it is wrong.
AskedPrograms programs_of(const std::vector<std::string>& words, const PolicyRegistry& policies);

/// The GPU that is asked about: `stated`, or else that of the experiment, or else an H200.
std::string gpu_of(const std::string& stated, const AskedPrograms& asked);

}  // namespace corun
