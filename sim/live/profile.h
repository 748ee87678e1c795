#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/workload/workload.h"

namespace corun::live {

/// What a solo capture of a program tells of its kernels: how long those of a name take.
class Profile {
 public:
  explicit Profile(const Workload& workload) {
    for (const WorkOp& op : workload.ops) by_name_[workload.names[op.name]] = op.predicted_by_name;
  }
  /// kUnknownDuration where the capture had none of this name.
  Duration predict(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? kUnknownDuration : found->second;
  }

 private:
  std::map<std::string, Duration, std::less<>> by_name_;
};

}  // namespace corun::live
