#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/policy/descriptor.h"

namespace corun {

/// The parameters of a policy at work that may change, with their present values.
class AdjustableParameters {
 public:
  AdjustableParameters() = default;
  AdjustableParameters(const PolicyDescriptor& policy, const Parameters& values);

  /// Reads "quantum=5s"; `at` stays zero. Throws Error(kInput) that says what may change and to what.
  Adjustment read(std::string_view assignment) const;
  void set(const Adjustment& adjustment) { values_.set(adjustment.parameter, adjustment.value); }
  /// "quantum=5s" for each, in the order of the table.
  std::vector<std::string> texts() const;

 private:
  std::string policy_;
  std::vector<ParameterDescriptor> rows_;
  Parameters values_;
};

/// "quantum=5s"
std::string to_text(const Adjustment& adjustment);

}  // namespace corun
