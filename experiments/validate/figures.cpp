#include "experiments/validate/figures.h"

namespace corun::validation {

void Figures::add(const CellKey& cell, const std::vector<Metric>& metrics) {
  for (const Metric& metric : metrics) values_[{cell, metric.client, metric.name}].push_back(metric.value);
}

std::span<const double> Figures::values(const CellKey& cell, const std::string& client,
                                        const std::string& metric) const {
  const auto found = values_.find({cell, client, metric});
  return found == values_.end() ? std::span<const double>{} : std::span<const double>(found->second);
}

std::optional<Estimate> Figures::get(const CellKey& cell, const std::string& client, const std::string& metric) const {
  const auto found = values(cell, client, metric);
  return found.empty() ? std::nullopt : std::optional(estimate(found));
}

std::span<const std::string> Figures::failures(const CellKey& cell) const {
  const auto found = failures_.find(cell);
  return found == failures_.end() ? std::span<const std::string>{} : std::span<const std::string>(found->second);
}

}  // namespace corun::validation
