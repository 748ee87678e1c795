#include "policies/djay/admission.h"

#include <algorithm>

namespace corun {

namespace {

bool is_admitted(const std::optional<DjayGame>& game) {
  return game && game->standing() == DjayGame::Standing::kAdmitted;
}

Duration cheapest_cost(const DjayGame& game) { return game.model().cost(game.model().cheapest()); }

Duration cheapest_sum(const DjayGames& games) {
  Duration sum{};
  for (const auto& game : games)
    if (is_admitted(game)) sum += cheapest_cost(*game);
  return sum;
}

Hold shortage(std::string_view rule, Duration needed, Duration available) {
  return {rule, static_cast<double>(needed.count()), static_cast<double>(available.count()), "ns"};
}

}  // namespace

Duration DjayAdmission::unknown_cost(const DjayGames& games) const {
  Duration most = settings_.unknown_cost;
  if (most > Duration{0}) return most;
  for (const auto& game : games)
    if (game && game->model().frames() > 0) most = std::max(most, cheapest_cost(*game));
  return most;
}

bool DjayAdmission::judge(DjayGames& games, ClientId ended, Duration budget) const {
  DjayGame& game = *games[ended.value];
  if (game.standing() != DjayGame::Standing::kArriving || game.model().frames() < settings_.verdict_frames)
    return false;
  const Duration needed = cheapest_cost(game), available = budget - cheapest_sum(games);
  if (settings_.accepts_all || needed <= available) {
    game.admit();
  } else {
    game.refuse(shortage("admission", needed, available));
  }
  return true;
}

void DjayAdmission::evict(DjayGames& games, ClientId ended, Duration budget) {
  DjayGame* last = nullptr;
  for (auto& game : games)
    if (is_admitted(game) && (last == nullptr || game->order() > last->order())) last = &*game;
  if (!settings_.evicts_last_joined || last == nullptr || last->id() != ended) return;
  const Duration needed = cheapest_sum(games);
  frames_without_fit_ = needed > budget ? frames_without_fit_ + 1 : 0;
  if (frames_without_fit_ < settings_.eviction_frames) return;
  frames_without_fit_ = 0;
  last->refuse(shortage("eviction", needed, budget));
}

}  // namespace corun
