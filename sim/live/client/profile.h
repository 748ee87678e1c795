#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/workload/workload.h"

namespace corun::live {

/// Device times of the operations of a program, from a solo capture of it, its start-up included: of kernels by name,
/// and by name and grid; of copies and memsets, which a gate reports without a name.
class Profile {
 public:
  explicit Profile(const Workload& workload);
  /// kUnknownDuration where the capture had none like it.
  Duration by_name(OpKind kind, std::string_view name) const;
  /// As by_name() where the capture had none of this grid.
  Duration by_shape(OpKind kind, std::string_view name, std::uint64_t blocks) const;

 private:
  void add(const WorkOp& op, const Workload& workload);
  struct Entry {
    Duration mean{};  ///< as the capture predicts it
    std::map<std::uint64_t, Duration> by_blocks;
    std::int64_t count = 0;
  };
  const Entry* find(OpKind kind, std::string_view name) const;

  std::map<std::string, Entry, std::less<>> kernels_;
  std::map<OpKind, Entry> others_;
};

}  // namespace corun::live
