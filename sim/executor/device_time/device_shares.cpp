#include "sim/executor/device_time/device_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

Time end_of(const auto& steps, auto step) {
  const auto next = std::next(step);
  return next == steps.end() ? kNever : next->first;
}

/// Of lengths by number of working clients, each one's equal part.
Duration parts(const std::vector<Duration>& lengths) {
  Duration sum{};
  for (std::size_t size = 1; size < lengths.size(); ++size) sum += lengths[size] / static_cast<std::int64_t>(size);
  return sum;
}

}  // namespace

DeviceShares::DeviceShares(std::size_t clients)
    : steps_{{kRunStart, 0}}, in_company_(clients, std::vector<Duration>(clients + 1)) {
  if (clients > kMostClients)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} clients take turns on a device; {} are the most whose shares can be told apart",
                            clients, kMostClients));
}

/// The step that begins at `at`, which may be made for it.
DeviceShares::Steps::iterator DeviceShares::cut(Time at) {
  const auto after = steps_.upper_bound(at);
  const auto before = std::prev(after);
  return before->first == at ? before : steps_.emplace_hint(after, at, before->second);
}

void DeviceShares::count(Company company, Duration length) {
  const auto size = static_cast<std::size_t>(std::popcount(company));
  for (; company != 0; company &= company - 1)
    in_company_[static_cast<std::size_t>(std::countr_zero(company))][size] += length;
}

void DeviceShares::add(ClientId client, Time begin, Time end) {
  begin = std::max(begin, steps_.begin()->first);
  if (begin >= end) return;
  const Company bit = Company{1} << client.value;
  auto step = cut(begin);
  const auto last = cut(end);
  while (step != last) {
    const auto next = std::next(step);
    if ((step->second & bit) == 0) {
      const Duration length = next->first - step->first;
      count(step->second, -length);
      step->second |= bit;
      count(step->second, length);
    }
    const bool continues = step != steps_.begin() && std::prev(step)->second == step->second;
    if (continues) steps_.erase(step);
    step = next;
  }
  const bool continues = std::prev(last)->second == last->second;
  if (continues) steps_.erase(last);
}

Duration DeviceShares::received(ClientId client) const { return parts(in_company_[client.value]); }

Duration DeviceShares::received(ClientId client, Time begin, Time end) const {
  begin = std::max(begin, steps_.begin()->first);
  std::vector<Duration> lengths(in_company_.size() + 1);
  for (auto step = std::prev(steps_.upper_bound(begin)); step != steps_.end() && step->first < end; ++step) {
    const bool has_work = (step->second >> client.value & 1) != 0;
    const Duration length = std::min(end, end_of(steps_, step)) - std::max(begin, step->first);
    if (has_work) lengths[static_cast<std::size_t>(std::popcount(step->second))] += length;
  }
  return parts(lengths);
}

void DeviceShares::settle(Time oldest) {
  const auto kept = std::prev(steps_.upper_bound(std::max(oldest, steps_.begin()->first)));
  steps_.erase(steps_.begin(), kept);
}

}  // namespace corun::executor
