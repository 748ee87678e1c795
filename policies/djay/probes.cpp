#include "policies/djay/probes.h"

#include <algorithm>

namespace corun {

namespace {

/// What a shadow frame takes on the GPU, as Actions::shadow says.
Duration shadow_time(const DjayGame& game, std::uint32_t level) {
  const std::uint32_t own = game.target();
  Duration time{};
  if (level != own) time += game.model().cost(level);
  if (level != 0 && own != 0) time += game.model().cost(0);
  return time;
}

/// The level of which least is known, among those whose shadow fits; of equal ones the better.
std::optional<std::uint32_t> least_known(const DjayGame& game, Duration room) {
  std::optional<std::uint32_t> best;
  double most = 0.0;
  for (std::uint32_t level = 0; level < game.model().levels(); ++level) {
    const double uncertainty = game.model().uncertainty(level);
    if (uncertainty <= most || shadow_time(game, level) > room) continue;
    best = level;
    most = uncertainty;
  }
  return best;
}

}  // namespace

void DjayProbes::joined(ClientId client) {
  next_.resize(std::max<std::size_t>(next_.size(), client.value + std::size_t{1}));
  served_.resize(next_.size());
  next_[client.value] = 0;
  served_[client.value] = 0;
}

void DjayProbes::answered(ClientId client) {
  if (wish_ && wish_->client == client) wish_.reset();
}

bool DjayProbes::is_due(const DjayGame& game) const {
  return game.model().frames() > 0 && game.frames() >= next_[game.id().value] && game.model().error() > settings_.until;
}

void DjayProbes::ask(const DjayGames& games, Duration room) {
  if (settings_.every == 0 || wish_) return;
  const DjayGame* chosen = nullptr;
  for (const auto& game : games) {
    if (!game || game->standing() == DjayGame::Standing::kRefused) continue;
    if (!game->is_at_target()) return;
    if (!is_due(*game) || !least_known(*game, room)) continue;
    if (chosen == nullptr || served_[game->id().value] < served_[chosen->id().value]) chosen = &*game;
  }
  if (chosen == nullptr) return;
  const std::size_t client = chosen->id().value;
  wish_ = Wish{chosen->id(), *least_known(*chosen, room)};
  next_[client] = chosen->frames() + settings_.every;
  served_[client] = ++asked_;
}

}  // namespace corun
