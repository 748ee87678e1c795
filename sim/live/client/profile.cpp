#include "sim/live/client/profile.h"

namespace corun::live {

// What the jobs say of a kernel counts more than what the rest of the capture does.
Profile::Profile(const Workload& workload) {
  for (const WorkOp& op : workload.left_out) add(op, workload);
  for (const WorkOp& op : workload.ops) add(op, workload);
}

void Profile::add(const WorkOp& op, const Workload& workload) {
  if (op.kind == OpKind::kKernel) {
    Entry& entry = kernels_[workload.names[op.name]];
    entry.mean = op.predicted_by_name;
    entry.by_blocks[op.shape.blocks()] = op.predicted_by_shape;
  } else {
    Entry& entry = others_[op.kind];
    entry.mean += (op.duration - entry.mean) / ++entry.count;
  }
}

const Profile::Entry* Profile::find(OpKind kind, std::string_view name) const {
  if (kind == OpKind::kKernel) {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : &found->second;
  }
  const auto found = others_.find(kind);
  return found == others_.end() ? nullptr : &found->second;
}

Duration Profile::by_name(OpKind kind, std::string_view name) const {
  const Entry* entry = find(kind, name);
  return entry == nullptr ? kUnknownDuration : entry->mean;
}

Duration Profile::by_shape(OpKind kind, std::string_view name, std::uint64_t blocks) const {
  const Entry* entry = find(kind, name);
  if (entry == nullptr) return kUnknownDuration;
  const auto found = entry->by_blocks.find(blocks);
  return found == entry->by_blocks.end() ? entry->mean : found->second;
}

}  // namespace corun::live
