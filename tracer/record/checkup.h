#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace corun::record {

enum class FactState : std::uint8_t {
  kOk,
  kLimited,  ///< it works, with something to know
  kMissing,
};

/// One thing that a capture needs or that changes it.
struct Fact {
  std::string name;
  FactState state = FactState::kOk;
  std::string finding;    ///< what there is
  std::string help = {};  ///< what the user or an administrator can do; "" = nothing to do
};

/// What of a machine matters to captures.
struct Checkup {
  std::vector<Fact> facts;
  bool has_cuda = false, has_gl = false, has_vulkan = false;  ///< can be captured

  bool has_any() const { return has_cuda || has_gl || has_vulkan; }
};

/// Looks at this machine, this environment and the current folder. Changes nothing.
Checkup check_up();

}  // namespace corun::record
