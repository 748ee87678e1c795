#include "experiments/validate/scoring/figures.h"

namespace corun::validation {

void Figures::add(const CellKey& cell, std::uint64_t seed, const std::vector<Metric>& metrics) {
  for (const Metric& metric : metrics) {
    Series& series = series_[{cell, metric.client, metric.name}];
    series.values.push_back(metric.value);
    series.seeds.push_back(seed);
  }
}

const Figures::Series* Figures::find(const CellKey& cell, const std::string& client, const std::string& metric) const {
  const auto found = series_.find({cell, client, metric});
  return found == series_.end() ? nullptr : &found->second;
}

std::span<const double> Figures::values(const CellKey& cell, const std::string& client,
                                        const std::string& metric) const {
  const Series* found = find(cell, client, metric);
  return found == nullptr ? std::span<const double>{} : std::span<const double>(found->values);
}

std::span<const std::uint64_t> Figures::seeds(const CellKey& cell, const std::string& client,
                                              const std::string& metric) const {
  const Series* found = find(cell, client, metric);
  return found == nullptr ? std::span<const std::uint64_t>{} : std::span<const std::uint64_t>(found->seeds);
}

std::optional<Estimate> Figures::get(const CellKey& cell, const std::string& client, const std::string& metric) const {
  const auto found = values(cell, client, metric);
  return found.empty() ? std::nullopt : std::optional(figure_estimate(found));
}

std::span<const std::string> Figures::failures(const CellKey& cell) const {
  const auto found = failures_.find(cell);
  return found == failures_.end() ? std::span<const std::string>{} : std::span<const std::string>(found->second);
}

}  // namespace corun::validation
