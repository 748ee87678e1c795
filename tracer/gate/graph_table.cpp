#include "tracer/gate/graph_table.h"

namespace corun::gate {

GraphTable::Sum GraphTable::count(void* graph) {
  std::size_t all = 0;
  if (driver_.graph_nodes(graph, nullptr, &all) != Driver::kSuccess) return {};
  std::size_t seen = all < kMostNodes ? all : kMostNodes;
  if (seen == 0 || driver_.graph_nodes(graph, nodes_, &seen) != Driver::kSuccess) return {};
  Sum sum;
  for (std::size_t i = 0; i < seen; ++i) {
    int type = -1;
    Driver::KernelNode kernel{};
    const bool is_kernel = driver_.node_type(nodes_[i], &type) == Driver::kSuccess && type == Driver::kNodeIsKernel;
    if (!is_kernel) continue;
    ++sum.kernels;
    if (driver_.kernel_node(nodes_[i], &kernel) == Driver::kSuccess)
      sum.blocks += std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
  }
  sum.kernels = static_cast<std::uint32_t>(sum.kernels * all / seen);
  sum.blocks = sum.blocks * all / seen;
  return sum;
}

// A graph beyond the most counts as empty.
void GraphTable::made(const void* executable, void* graph) {
  pthread_mutex_lock(&lock_);
  Entry* entry = find(executable);
  if (entry == nullptr) entry = find(nullptr);
  if (entry == nullptr && used_ < kMostGraphs) entry = &entries_[used_++];
  if (entry != nullptr) *entry = {executable, count(graph)};
  pthread_mutex_unlock(&lock_);
}

void GraphTable::destroyed(const void* executable) {
  pthread_mutex_lock(&lock_);
  if (Entry* entry = find(executable)) *entry = {};
  pthread_mutex_unlock(&lock_);
}

GraphTable::Sum GraphTable::sum_of(const void* executable) {
  pthread_mutex_lock(&lock_);
  const Entry* entry = find(executable);
  const Sum sum = entry == nullptr ? Sum{} : entry->sum;
  pthread_mutex_unlock(&lock_);
  return sum;
}

GraphTable::Entry* GraphTable::find(const void* executable) {
  for (std::uint32_t i = 0; i < used_; ++i)
    if (entries_[i].executable == executable) return &entries_[i];
  return nullptr;
}

}  // namespace corun::gate
