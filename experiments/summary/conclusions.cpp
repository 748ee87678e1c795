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
const ClientFinding* worst_game(const PolicyFinding& finding) {
  const ClientFinding* worst = nullptr;
  for (const ClientFinding& client : finding.clients) {
    if (!client.is_game()) continue;
    if (worst == nullptr || client.fps * worst->alone_per_s < worst->fps * client.alone_per_s) worst = &client;
  }
  return worst;
}

/// Speeds of the other clients, as parts of their speeds alone, added up.
double guest_speed(const PolicyFinding& finding) {
  double sum = 0;
  for (const ClientFinding& client : finding.clients)
    if (!client.is_game() && client.alone_per_s > 0) sum += client.throughput_per_s / client.alone_per_s;
  return sum;
}

bool keeps_games_whole(const PolicyFinding& finding) {
  const ClientFinding* game = worst_game(finding);
  return game != nullptr && game->fps >= kWhole * game->alone_per_s;
}

std::string guests(const PolicyFinding& finding) {
  std::vector<std::string> names;
  for (const ClientFinding& client : finding.clients)
    if (!client.is_game()) names.push_back(client.name);
  return names.size() == 1 ? names[0] : fmt::format("the {} other clients", names.size());
}

std::string game_rate(const ClientFinding& game) {
  return fmt::format("{} at {} fps (alone {})", game.name, short_number(game.fps), short_number(game.alone_per_s));
}

/// What the policy that does most for the others does to the games, against `best`, which keeps them whole.
std::string describe_greediest(const PolicyFinding& greediest, const PolicyFinding* best) {
  const std::string games = game_rate(*worst_game(greediest));
  const double before = best == nullptr ? 0 : guest_speed(*best);
  if (before > 0)
    return fmt::format("{} runs {} {:.2f} times faster than that, but shows {}.", greediest.policy, guests(greediest),
                       guest_speed(greediest) / before, games);
  return fmt::format("{} shows {} and runs {} at {:.2f} of {} alone.", greediest.policy, games, guests(greediest),
                     guest_speed(greediest), guests(greediest).starts_with("the ") ? "one's speed" : "its speed");
}

std::vector<std::string> describe_harvest(const std::vector<PolicyFinding>& findings) {
  const PolicyFinding* best = nullptr;
  const PolicyFinding* greediest = nullptr;
  for (const PolicyFinding& finding : findings) {
    if (keeps_games_whole(finding) && (best == nullptr || finding.harvest > kClearly * best->harvest)) best = &finding;
    if (greediest == nullptr || guest_speed(finding) > kClearly * guest_speed(*greediest)) greediest = &finding;
  }
  std::vector<std::string> sentences;
  if (best != nullptr)
    sentences.push_back(fmt::format("{} keeps {} and harvests {:.0f} % of the time it leaves idle.", best->policy,
                                    game_rate(*worst_game(*best)), best->harvest * 100));
  if (best == nullptr && findings.size() > 1)
    sentences.emplace_back("No policy keeps every game at the frame rate it has alone.");
  const bool is_greedier = best == nullptr || guest_speed(*greediest) > kClearly * guest_speed(*best);
  if (is_greedier) sentences.push_back(describe_greediest(*greediest, best));
  return sentences;
}

const ClientFinding& slowest_game(const PolicyFinding& finding) {
  return *std::ranges::min_element(finding.clients, {}, &ClientFinding::fps);
}

/// " at quality 0.84", over all games; nothing where there is no menu.
std::string quality_text(const PolicyFinding& finding) {
  double sum = 0;
  for (const ClientFinding& client : finding.clients) sum += client.quality;
  return std::isnan(sum) ? "" : fmt::format(" at quality {:.2f}", sum / static_cast<double>(finding.clients.size()));
}

std::vector<std::string> describe_games(const std::vector<PolicyFinding>& findings) {
  const auto by_rate = [](const PolicyFinding& a, const PolicyFinding& b) {
    return slowest_game(a).fps < slowest_game(b).fps;
  };
  const auto [worst, best] = std::ranges::minmax_element(findings, by_rate);
  const auto rate = [](const PolicyFinding& finding) {
    return short_number(slowest_game(finding).fps) + " fps" + quality_text(finding);
  };
  const std::size_t games = best->clients.size();
  const std::string subject = games == 1 ? best->clients[0].name : fmt::format("the slowest of {} games", games);
  std::string text = fmt::format("{} keeps {} at {}", best->policy, subject, rate(*best));
  if (worst != best) text += fmt::format("; {} lets it fall to {}", worst->policy, rate(*worst));
  return {text + "."};
}

/// Live, clients run alone only where that is asked for.
bool knows_all_alone(const PolicyFinding& finding) {
  return std::ranges::all_of(finding.clients, [](const ClientFinding& client) { return client.alone_per_s > 0; });
}

std::vector<std::string> describe_work(const std::vector<PolicyFinding>& findings) {
  const auto by_speed = [](const PolicyFinding& a, const PolicyFinding& b) { return guest_speed(a) < guest_speed(b); };
  const PolicyFinding& best = *std::ranges::max_element(findings, by_speed);
  if (!knows_all_alone(best)) return {};
  std::vector<std::string> parts;
  for (const ClientFinding& client : best.clients)
    parts.push_back(fmt::format("{} at {:.3f}", client.name, client.throughput_per_s / client.alone_per_s));
  const std::string sum = best.clients.size() == 1 ? "" : fmt::format(", {:.3f} together", guest_speed(best));
  return {fmt::format("{} runs {} of the speed alone{}.", best.policy, fmt::join(parts, ", "), sum)};
}

bool has_games(const PolicyFinding& finding) { return std::ranges::any_of(finding.clients, &ClientFinding::is_game); }
bool has_guests(const PolicyFinding& finding) { return !std::ranges::all_of(finding.clients, &ClientFinding::is_game); }

}  // namespace

std::vector<std::string> describe(std::vector<PolicyFinding> findings) {
  const bool are_games = std::ranges::any_of(findings, has_games),
             are_guests = std::ranges::any_of(findings, has_guests);
  // A policy that turned away all clients of a kind cannot be compared with those that did not.
  std::erase_if(findings, [&](const PolicyFinding& finding) {
    return has_games(finding) != are_games || has_guests(finding) != are_guests;
  });
  const bool is_nobody = !are_games && !are_guests;
  if (findings.empty() || is_nobody) return {};
  if (are_games && are_guests && !std::ranges::all_of(findings, knows_all_alone)) return {};
  if (are_games && are_guests) return describe_harvest(findings);
  return are_games ? describe_games(findings) : describe_work(findings);
}

}  // namespace corun
