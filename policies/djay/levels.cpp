#include "policies/djay/levels.h"

#include <algorithm>
#include <limits>

#include "traces/base/error.h"

namespace corun {

namespace {

using Contender = LevelChooser::Contender;
using Levels = std::vector<std::uint32_t>;

/// What a set of levels is worth: objectives look at one or both.
struct Worth {
  double sum = 0.0;
  double smallest = std::numeric_limits<double>::infinity();
};

Worth worth_of(std::span<const Contender> contenders, const Levels& levels) {
  Worth worth;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const double value = contenders[i].menu[levels[i]].value;
    worth.sum += value;
    worth.smallest = std::min(worth.smallest, value);
  }
  return worth;
}

Levels current_levels(std::span<const Contender> contenders) {
  Levels levels;
  for (const Contender& contender : contenders) levels.push_back(contender.current);
  return levels;
}

Duration cost_of(std::span<const Contender> contenders, const Levels& levels) {
  Duration sum{};
  for (std::size_t i = 0; i < contenders.size(); ++i) sum += contenders[i].menu[levels[i]].cost;
  return sum;
}

/// Time that changing to that level takes off the room for this frame.
Duration dearness(const Contender& contender, std::uint32_t level) {
  return contender.menu[level].cost - contender.menu[contender.current].cost + contender.switch_cost;
}

/// What the first frames of those that change level take more.
Duration first_frames(std::span<const Contender> contenders, const Levels& levels) {
  Duration sum{};
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (levels[i] != contenders[i].current) sum += contenders[i].switch_cost;
  return sum;
}

bool is_upgrade(const Contender& contender, std::uint32_t level) {
  return level != contender.current && contender.menu[level].cost > contender.menu[contender.current].cost;
}

}  // namespace

LevelChooser::Answer LevelChooser::choose(std::span<const Contender> contenders, Duration budget, Duration pending,
                                          std::span<const Menu> others) const {
  CORUN_ASSERT(others.empty() || settings_.objective == Objective::kSum, "the others' values are no picture's");
  Question question{contenders, budget, others};
  Answer answer{current_levels(contenders), std::vector<bool>(contenders.size()), true, {}};
  const bool fits_now = cost_of(contenders, answer.levels) <= budget;
  Levels better = fits_now ? best_around_settled(question) : best_without_rash_upgrades(question);
  answer.is_held_back = hold_back(contenders, better, budget + settings_.reserve - pending);
  if (!fits_now || is_worth_it(question, better)) answer.levels = std::move(better);
  answer.fits = cost_of(contenders, answer.levels) <= budget;
  question.budget -= std::max(pending + first_frames(contenders, answer.levels) - settings_.reserve, Duration{0});
  answer.others = best_of_others(question, answer.levels).items;
  return answer;
}

/// To stay is worth as much as a change has to bring: the best answer is then one that is worth its changes.
std::vector<Menu> LevelChooser::biased_menus(const Question& question) const {
  std::vector<Menu> menus;
  for (const Contender& contender : question.contenders) {
    menus.push_back(contender.menu);
    menus.back()[contender.current].value += settings_.hysteresis_gain;
  }
  menus.insert(menus.end(), question.others.begin(), question.others.end());
  return menus;
}

MenuChoice LevelChooser::solve(std::span<const Menu> menus, Duration budget) const {
  if (settings_.objective == Objective::kMaxMin)
    return choose_fairest(menus, budget, settings_.solver == Solver::kExact ? choose_exactly : choose_greedily);
  switch (settings_.solver) {
    case Solver::kGreedyHull:
      return choose_greedily(menus, budget);
    case Solver::kExact:
      return choose_exactly(menus, budget);
    case Solver::kBins:
      break;
  }
  return choose_in_bins(menus, budget, settings_.bin);
}

/// A game that changed lately keeps its level, and the others' are chosen around it.
std::vector<std::uint32_t> LevelChooser::best_around_settled(const Question& question) const {
  const auto& contenders = question.contenders;
  std::vector<Menu> menus = biased_menus(question);
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (!contenders[i].may_change) menus[i] = Menu{menus[i][contenders[i].current]};
  Levels levels = solve(menus, question.budget).items;
  levels.resize(contenders.size());
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (!contenders[i].may_change) levels[i] = contenders[i].current;
  return levels;
}

/// While levels do not fit, downgrades cannot wait; an upgrade that came along with them still does.
std::vector<std::uint32_t> LevelChooser::best_without_rash_upgrades(const Question& question) const {
  const auto& contenders = question.contenders;
  Levels levels = solve(biased_menus(question), question.budget).items;
  levels.resize(contenders.size());
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const Contender& its = contenders[i];
    const bool gains = its.menu[levels[i]].value > its.menu[its.current].value + settings_.hysteresis_gain;
    if (is_upgrade(its, levels[i]) && !(gains && its.may_change)) levels[i] = its.current;
  }
  return levels;
}

/// Takes upgrades back, the last first, until what the first frames at new levels take more fits as well.
std::vector<bool> LevelChooser::hold_back(std::span<const Contender> contenders, std::vector<std::uint32_t>& levels,
                                          Duration room) const {
  std::vector<bool> is_held_back(contenders.size());
  room -= cost_of(contenders, current_levels(contenders));
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (levels[i] != contenders[i].current) room -= dearness(contenders[i], levels[i]);
  for (std::size_t i = contenders.size(); i-- > 0 && room < Duration{0};) {
    if (!is_upgrade(contenders[i], levels[i]) || contenders[i].switch_cost == Duration{0}) continue;
    room += dearness(contenders[i], levels[i]);
    levels[i] = contenders[i].current;
    is_held_back[i] = true;
  }
  return is_held_back;
}

MenuChoice LevelChooser::best_of_others(const Question& question, const std::vector<std::uint32_t>& levels) const {
  if (question.others.empty()) return {};
  return solve(question.others, question.budget - cost_of(question.contenders, levels));
}

bool LevelChooser::is_worth_it(const Question& question, const std::vector<std::uint32_t>& levels) const {
  const auto& contenders = question.contenders;
  double needed = 0.0;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (levels[i] != contenders[i].current) needed += settings_.hysteresis_gain;
  const Levels current = current_levels(contenders);
  Worth now = worth_of(contenders, current), then = worth_of(contenders, levels);
  now.sum += best_of_others(question, current).value;
  then.sum += best_of_others(question, levels).value;
  if (settings_.objective == Objective::kSum) return then.sum > now.sum + needed;
  if (then.smallest > now.smallest + settings_.hysteresis_gain) return true;
  return then.smallest >= now.smallest && then.sum > now.sum + needed;
}

}  // namespace corun
