#include "policies/djay/game.h"

#include <algorithm>

namespace corun {

DjayGame::DjayGame(const Settings& settings, const ClientView& client, std::uint64_t order)
    : id_(client.id),
      order_(order),
      first_switch_cost_(settings.first_switch_cost),
      model_(settings.model, client.quality_menu),
      rendered_level_(client.quality_level),
      target_(settings.joins_cheapest ? model_.cheapest() : client.quality_level) {}

void DjayGame::refuse(const Hold& why) {
  standing_ = Standing::kRefused;
  why_refused_ = why;
}

void DjayGame::frame_ended(const FrameView& frame) {
  ++frames_;
  newest_time_ = frame.gpu_busy;
  const bool is_first_at_level = frame.quality_level != rendered_level_;
  rendered_level_ = frame.quality_level;
  if (is_first_at_level) {
    switch_frame_ = frame.gpu_busy;
    return;
  }
  if (switch_frame_) {
    switch_costs_.push_back(std::max(*switch_frame_ - frame.gpu_busy, Duration{0}));
    if (switch_costs_.size() > kSwitches) switch_costs_.erase(switch_costs_.begin());
    switch_frame_.reset();
  }
  model_.learn_frame(frame);
}

void DjayGame::set_target(std::uint32_t level) {
  if (target_ == level) return;
  target_ = level;
  changed_at_ = frames_;
  held_back_since_.reset();
}

Duration DjayGame::switch_cost() const {
  return switch_costs_.empty() ? first_switch_cost_ : std::ranges::max(switch_costs_);
}

void DjayGame::note_held_back(bool is_held_back) {
  if (!is_held_back) held_back_since_.reset();
  if (is_held_back && !held_back_since_) held_back_since_ = frames_;
}

Duration DjayGame::expected_cost(Duration unknown) const {
  if (model_.frames() > 0) return model_.cost(target_);
  const double ratio = model_.stated_cost(target_) / model_.stated_cost(model_.cheapest());
  return Duration{static_cast<std::int64_t>(static_cast<double>(unknown.count()) * ratio)};
}

}  // namespace corun
