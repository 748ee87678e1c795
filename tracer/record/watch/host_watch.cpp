#include "tracer/record/watch/host_watch.h"

#include <charconv>
#include <filesystem>
#include <fstream>

namespace corun::record {

namespace {

namespace fs = std::filesystem;

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc{}) threads.push_back(thread);
  }
  return threads;
}

}  // namespace

void HostWatch::look(std::span<const pid_t> processes) {
  for (const pid_t process : processes) {
    for (const pid_t thread : threads_of(process)) {
      std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/schedstat");
      Reading reading{now_ns(), 0, 0};
      if (!(file >> reading.running_ns >> reading.waiting_ns)) continue;
      if (readings_.size() >= kMostThreads && !readings_.contains({process, thread})) continue;
      readings_[{process, thread}].add(reading);
    }
  }
}

std::vector<HostUse> HostWatch::between(std::int64_t from_ns, std::int64_t to_ns) const {
  std::vector<HostUse> uses;
  for (const auto& [who, log] : readings_) {
    const std::span<const Reading> readings = log.between(from_ns, to_ns);
    if (readings.size() < 2) continue;
    const Reading &first = readings.front(), &last = readings.back();
    const std::int64_t span_ns = last.at_ns - first.at_ns;
    if (span_ns <= 0) continue;
    const auto part = [&](std::int64_t ns) { return std::clamp<std::int64_t>(ns, 0, span_ns); };
    uses.push_back({.process = static_cast<std::uint64_t>(who.first),
                    .thread = static_cast<std::uint64_t>(who.second),
                    .span_ns = span_ns,
                    .running_ns = part(last.running_ns - first.running_ns),
                    .waiting_ns = part(last.waiting_ns - first.waiting_ns)});
  }
  return uses;
}

}  // namespace corun::record
