#include "tracer/record/neighbours.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tracer/record/parts_folder.h"

namespace corun::record {

namespace {

bool descends_from(std::int64_t process, std::int64_t ancestor) {
  constexpr int kMostGenerations = 64;
  for (int i = 0; i < kMostGenerations && process > 1; ++i) {
    if (process == ancestor) return true;
    process = std::atoll(process_field(process, 4).c_str());
  }
  return false;
}

/// The server of MPS works in the name of its clients.
bool is_mps_server(std::int64_t process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
  return name.starts_with("nvidia-cuda-mps");
}

bool is_ours(std::int64_t process, const std::vector<std::string>& parts) {
  const auto wrote = [&](const std::string& part) { return writer_of(part).process == process; };
  return descends_from(process, ::getpid()) || std::ranges::any_of(parts, wrote);
}

}  // namespace

Neighbours::Neighbours() {
  for (const Nvml::Worker& worker : nvml_.workers()) before_.insert(worker.process);
}

void Neighbours::look(const std::vector<std::string>& parts) {
  for (const Nvml::Worker& worker : nvml_.workers()) {
    const bool is_seen_here = !process_field(worker.process, 3).empty();
    const bool is_own = is_seen_here && !before_.contains(worker.process) && is_ours(worker.process, parts);
    const bool is_foreign = before_.contains(worker.process) || (is_seen_here && !is_own);
    if (is_own) own_gpus_.insert(worker.uuid);
    if (is_foreign && !is_mps_server(worker.process)) gpus_.insert(worker.uuid);
  }
}

}  // namespace corun::record
