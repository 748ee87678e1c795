#include "experiments/summary/conclusions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/summary/summary.h"

namespace corun {

namespace {

constexpr double kWhole = 0.98;     // a game that keeps this part of its rate alone counts as unharmed
constexpr double kClearly = 1.005;  // less is not worth a sentence; the policy listed first wins

/// The game that loses the largest part of its rate alone.
const ClientUnderPolicy* worst_game(const PolicyMeans& policy) {
  const ClientUnderPolicy* worst = nullptr;
  for (const ClientUnderPolicy& client : policy.clients) {
    if (!client.is_game()) continue;
    if (worst == nullptr || client.fps * worst->alone_per_s < worst->fps * client.alone_per_s) worst = &client;
  }
  return worst;
}

/// Speeds of the other clients, as parts of their speeds alone, added up.
double guest_speed(const PolicyMeans& policy) {
  double sum = 0;
  for (const ClientUnderPolicy& client : policy.clients)
    if (!client.is_game() && client.alone_per_s > 0) sum += client.throughput_per_s / client.alone_per_s;
  return sum;
}

bool keeps_games_whole(const PolicyMeans& policy) {
  const ClientUnderPolicy* game = worst_game(policy);
  return game != nullptr && game->fps >= kWhole * game->alone_per_s;
}

std::string guests(const PolicyMeans& policy) {
  std::vector<std::string> names;
  for (const ClientUnderPolicy& client : policy.clients)
    if (!client.is_game()) names.push_back(client.name);
  return names.size() == 1 ? names[0] : fmt::format("the {} other clients", names.size());
}

std::string game_rate(const ClientUnderPolicy& game) {
  return fmt::format("{} at {} fps (alone {})", game.name, short_number(game.fps), short_number(game.alone_per_s));
}

/// What the policy that does most for the others does to the games, against `best`, which keeps them whole.
std::string describe_greediest(const PolicyMeans& greediest, const PolicyMeans* best) {
  const std::string games = game_rate(*worst_game(greediest));
  const double before = best == nullptr ? 0 : guest_speed(*best);
  if (before > 0)
    return fmt::format("{} runs {} {:.2f} times faster than that, but shows {}.", greediest.name, guests(greediest),
                       guest_speed(greediest) / before, games);
  return fmt::format("{} shows {} and runs {} at {:.2f} of {} alone.", greediest.name, games, guests(greediest),
                     guest_speed(greediest), guests(greediest).starts_with("the ") ? "one's speed" : "its speed");
}

std::vector<std::string> describe_harvest(const std::vector<PolicyMeans>& policies) {
  const PolicyMeans* best = nullptr;
  const PolicyMeans* greediest = nullptr;
  for (const PolicyMeans& policy : policies) {
    if (keeps_games_whole(policy) && (best == nullptr || policy.harvest > kClearly * best->harvest)) best = &policy;
    if (greediest == nullptr || guest_speed(policy) > kClearly * guest_speed(*greediest)) greediest = &policy;
  }
  std::vector<std::string> sentences;
  if (best != nullptr)
    sentences.push_back(fmt::format("{} keeps {} and harvests {:.0f} % of the time it leaves idle.", best->name,
                                    game_rate(*worst_game(*best)), best->harvest * 100));
  if (best == nullptr && policies.size() > 1)
    sentences.emplace_back("No policy keeps every game at the frame rate it has alone.");
  const bool is_greedier = best == nullptr || guest_speed(*greediest) > kClearly * guest_speed(*best);
  if (is_greedier) sentences.push_back(describe_greediest(*greediest, best));
  return sentences;
}

const ClientUnderPolicy& slowest_game(const PolicyMeans& policy) {
  return *std::ranges::min_element(policy.clients, {}, &ClientUnderPolicy::fps);
}

/// " at quality 0.84", over all games; nothing where there is no menu.
std::string quality_text(const PolicyMeans& policy) {
  double sum = 0;
  for (const ClientUnderPolicy& client : policy.clients) sum += client.quality;
  return std::isnan(sum) ? "" : fmt::format(" at quality {:.2f}", sum / static_cast<double>(policy.clients.size()));
}

std::vector<std::string> describe_games(const std::vector<PolicyMeans>& policies) {
  const auto by_rate = [](const PolicyMeans& a, const PolicyMeans& b) {
    return slowest_game(a).fps < slowest_game(b).fps;
  };
  const auto [worst, best] = std::ranges::minmax_element(policies, by_rate);
  const auto rate = [](const PolicyMeans& policy) {
    return short_number(slowest_game(policy).fps) + " fps" + quality_text(policy);
  };
  const std::size_t games = best->clients.size();
  const std::string subject = games == 1 ? best->clients[0].name : fmt::format("the slowest of {} games", games);
  std::string text = fmt::format("{} keeps {} at {}", best->name, subject, rate(*best));
  if (worst != best) text += fmt::format("; {} lets it fall to {}", worst->name, rate(*worst));
  return {text + "."};
}

/// Live, clients run alone only where that is asked for.
bool knows_all_alone(const PolicyMeans& policy) {
  return std::ranges::all_of(policy.clients, [](const ClientUnderPolicy& client) { return client.alone_per_s > 0; });
}

std::vector<std::string> describe_work(const std::vector<PolicyMeans>& policies) {
  const auto by_speed = [](const PolicyMeans& a, const PolicyMeans& b) { return guest_speed(a) < guest_speed(b); };
  const PolicyMeans& best = *std::ranges::max_element(policies, by_speed);
  if (!knows_all_alone(best)) return {};
  std::vector<std::string> parts;
  for (const ClientUnderPolicy& client : best.clients)
    parts.push_back(fmt::format("{} at {:.3f}", client.name, client.throughput_per_s / client.alone_per_s));
  const std::string sum = best.clients.size() == 1 ? "" : fmt::format(", {:.3f} together", guest_speed(best));
  return {fmt::format("{} runs {} of the speed alone{}.", best.name, fmt::join(parts, ", "), sum)};
}

bool has_games(const PolicyMeans& policy) { return std::ranges::any_of(policy.clients, &ClientUnderPolicy::is_game); }
bool has_guests(const PolicyMeans& policy) { return !std::ranges::all_of(policy.clients, &ClientUnderPolicy::is_game); }

}  // namespace

std::vector<std::string> conclusions(std::vector<PolicyMeans> policies) {
  const bool are_games = std::ranges::any_of(policies, has_games),
             are_guests = std::ranges::any_of(policies, has_guests);
  // A policy that turned away all clients of a kind cannot be compared with those that did not.
  std::erase_if(policies, [&](const PolicyMeans& policy) {
    return has_games(policy) != are_games || has_guests(policy) != are_guests;
  });
  if (policies.empty() || (!are_games && !are_guests)) return {};
  if (are_games && are_guests && !std::ranges::all_of(policies, knows_all_alone)) return {};
  if (are_games && are_guests) return describe_harvest(policies);
  return are_games ? describe_games(policies) : describe_work(policies);
}

}  // namespace corun
