#include "policies/parts/duration_predictor.h"

#include <algorithm>
#include <cmath>

#include "traces/base/error.h"

namespace corun {

DurationPredictor::Kind DurationPredictor::kind_of(std::string_view choice) {
  if (choice == "name_mean") return Kind::kNameMean;
  if (choice == "name_shape_mean") return Kind::kNameShapeMean;
  if (choice == "position_in_iteration") return Kind::kPosition;
  if (choice == "ewma") return Kind::kEwma;
  if (choice == "quantile") return Kind::kQuantile;
  CORUN_ASSERT(choice == "oracle", "predictor '{}'", choice);
  return Kind::kOracle;
}

Duration DurationPredictor::predict(ClientId client, const OpView& op) const {
  switch (settings_.kind) {
    case Kind::kNameMean:
      return by_name(op);
    case Kind::kNameShapeMean:
      return by_shape(op);
    case Kind::kPosition: {
      const AtPosition* position = at_position(client, op);
      return position ? Duration{std::llround(position->mean_ns)} : by_shape(op);
    }
    case Kind::kEwma: {
      const Measured* grid = measured(op);
      return grid ? grid->ewma : by_shape(op);
    }
    case Kind::kQuantile:
      return by_quantile(op);
    case Kind::kOracle:
      return op.exact;
  }
  return kUnknownDuration;
}

void DurationPredictor::learn(ClientId client, const OpView& op, Duration duration) {
  if (op.predicted_by_name == kUnknownDuration && !first_by_name_.contains(op.name))
    first_by_name_.emplace(op.name, duration);
  if (settings_.kind == Kind::kPosition) learn_position(client, op, duration);
  if (settings_.kind == Kind::kEwma || settings_.kind == Kind::kQuantile) learn_grid(op, duration);
}

Duration DurationPredictor::by_name(const OpView& op) const {
  if (op.predicted_by_name != kUnknownDuration) return op.predicted_by_name;
  const auto first = first_by_name_.find(op.name);
  return first == first_by_name_.end() ? kUnknownDuration : first->second;
}

Duration DurationPredictor::by_shape(const OpView& op) const {
  return op.predicted_by_shape != kUnknownDuration ? op.predicted_by_shape : by_name(op);
}

Duration DurationPredictor::by_quantile(const OpView& op) const {
  const Measured* grid = measured(op);
  if (!grid) return by_shape(op);
  return grid->count < kEnough ? std::max(grid->quantile, by_shape(op)) : grid->quantile;
}

const DurationPredictor::Measured* DurationPredictor::measured(const OpView& op) const {
  const auto name = by_grid_.find(op.name);
  if (name == by_grid_.end()) return nullptr;
  const auto grid = name->second.find(op.blocks);
  return grid == name->second.end() ? nullptr : &grid->second;
}

void DurationPredictor::learn_grid(const OpView& op, Duration duration) {
  auto name = by_grid_.find(op.name);
  if (name == by_grid_.end()) name = by_grid_.try_emplace(std::string(op.name)).first;
  Measured& grid = name->second[op.blocks];
  if (grid.newest.size() < kWindow) grid.newest.emplace_back();
  grid.newest[grid.count++ % kWindow] = duration;
  const double weight = grid.count == 1 ? 1.0 : settings_.ewma_weight;
  grid.ewma += Duration{std::llround(weight * static_cast<double>(to_ns(duration - grid.ewma)))};
  if (settings_.kind != Kind::kQuantile) return;
  std::vector<Duration> sorted = grid.newest;
  const auto n = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(settings_.quantile * n)) - 1;
  const std::size_t last = sorted.size() - 1;
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(grid.count < kEnough ? last : std::min(rank, last));
  std::nth_element(sorted.begin(), nth, sorted.end());
  grid.quantile = *nth;
}

const DurationPredictor::AtPosition* DurationPredictor::at_position(ClientId client, const OpView& op) const {
  if (client.value >= by_position_.size() || op.position >= by_position_[client.value].size()) return nullptr;
  const AtPosition& position = by_position_[client.value][op.position];
  return position.count > 0 && position.name == op.name ? &position : nullptr;
}

void DurationPredictor::learn_position(ClientId client, const OpView& op, Duration duration) {
  if (client.value >= by_position_.size()) by_position_.resize(client.value + 1);
  std::vector<AtPosition>& positions = by_position_[client.value];
  if (op.position >= positions.size()) positions.resize(op.position + 1);
  AtPosition& position = positions[op.position];
  if (position.name != op.name) position = {std::string(op.name), 0, 0.0};
  ++position.count;
  position.mean_ns += (static_cast<double>(to_ns(duration)) - position.mean_ns) / static_cast<double>(position.count);
}

}  // namespace corun
