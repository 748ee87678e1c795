/// dJay - chooses every game's quality level so that all their frames fit in one period and look as good as they can.
/// Source:      S. Grizan, D. Chu, A. Wolman, R. Wattenhofer, "dJay: enabling high-density multi-tenancy for cloud
///              gaming servers with dynamic cost-benefit GPU load balancing", SoCC 2015; poster; US patent 9,327,199.
/// Hears:       frames.      Needs: frame events, quality levels.
/// Decides:     after each round of frames, or when the spare time runs low, it predicts what each level of each game
///              would cost and solves a Multiple Choice Knapsack: most quality whose summed GPU time fits in a frame
///              period. Downgrades happen at once; upgrades wait for a gain worth having and some while.
/// Parameters:  see the descriptor below.
/// Departs:     1. There is no public code: the control loop, its constants and the solver are ours.
///              2. Cost is the newest measured frame times the menu's ratio, instead of a regression over scenes.
///              3. Nobody is turned away: if the cheapest levels do not fit, they are chosen all the same.
///              4. Games without a menu keep their setting; their measured time is taken off the budget.
///              5. Every gate is open: frames are not serialised into rounds.

#include <algorithm>
#include <optional>
#include <vector>

#include "policies/builtin.h"
#include "policies/knapsack.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

Duration scaled(Duration duration, double factor) {
  return Duration{static_cast<std::int64_t>(static_cast<double>(duration.count()) * factor)};
}

class Djay : public Policy {
 public:
  explicit Djay(const Parameters& parameters)
      : budget_(scaled(parameters.duration("frame_budget"), 1.0 - parameters.real("headroom"))),
        waits_for_shortage_(parameters.choice("trigger") == "threshold"),
        period_frames_(static_cast<std::uint64_t>(parameters.integer("period_frames"))),
        capacity_gap_(parameters.duration("capacity_gap")),
        hysteresis_gain_(parameters.real("hysteresis_gain")),
        dwell_frames_(static_cast<std::uint64_t>(parameters.integer("dwell_frames"))),
        solves_exactly_(parameters.choice("solver") == "exact") {}

  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = true}; }

  void on_joined(const GpuView& view, ClientId client) override {
    games_.resize(view.clients.size());
    games_[client.value] = Game{};
    games_[client.value].target = view.client(client).quality_level;
  }

  void on_left(const GpuView& view, ClientId client) override {
    games_[client.value] = Game{};
    choose_levels(view);
  }

  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    if (event != FrameEvent::kEnd) return;
    const bool is_new = measure(view.client(client));
    ++frames_since_round_;
    if (is_new || is_round_over(view)) {
      frames_since_round_ = 0;
      choose_levels(view);
    }
  }

  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      actions.open(client.id);
      const Game& game = games_[client.id.value];
      if (!client.quality_menu.empty() && game.target != client.quality_level)
        actions.set_quality(client.id, game.target);
    }
  }

 private:
  struct Game {
    std::optional<Duration> best_level_time;  // GPU time of a frame at the menu's first level, as last measured
    std::uint32_t target = 0;                 // level it should have
    std::uint64_t frames = 0;                 // ended so far
    std::uint64_t changed_at = 0;             // `frames` when the target last changed
    bool has_changed = false;
  };

  /// The games of one knapsack: those with a menu and a measurement.
  struct Question {
    std::vector<ClientId> games;
    std::vector<Menu> menus;
    std::vector<std::uint32_t> current;
    Duration budget;
  };

  static double ratio(const ClientView& client, std::uint32_t level) {
    return client.quality_menu.empty() ? 1.0 : client.quality_menu[level].cost;
  }

  /// True if it is this game's first measurement. A frame that may have been prepared before its level changed says
  /// nothing: neither the one in progress then nor the one that its host had already begun.
  bool measure(const ClientView& client) {
    Game& game = games_[client.id.value];
    ++game.frames;
    if (game.has_changed && game.frames <= game.changed_at + 2) return false;
    const double level_ratio = ratio(client, client.quality_level);
    if (level_ratio <= 0.0) return false;
    const bool is_first = !game.best_level_time.has_value();
    game.best_level_time = scaled(client.frame.gpu_busy, 1.0 / level_ratio);
    return is_first;
  }

  bool is_round_over(const GpuView& view) const {
    if (waits_for_shortage_) {
      const Question question = ask(view);
      return question.budget - price(question.menus, question.current, question.budget).cost < capacity_gap_;
    }
    const auto games = std::ranges::count_if(games_, [](const Game& game) { return game.best_level_time.has_value(); });
    return frames_since_round_ >= period_frames_ * std::max<std::uint64_t>(1, static_cast<std::uint64_t>(games));
  }

  Question ask(const GpuView& view) const {
    Question question{{}, {}, {}, budget_};
    for (const ClientView& client : view.clients) {
      const Game& game = games_[client.id.value];
      if (!client.is_present || !game.best_level_time) continue;
      if (client.quality_menu.empty()) {
        question.budget -= *game.best_level_time;
        continue;
      }
      Menu menu;
      for (const QualityLevel& level : client.quality_menu)
        menu.push_back({scaled(*game.best_level_time, level.cost), level.quality});
      question.games.push_back(client.id);
      question.menus.push_back(std::move(menu));
      question.current.push_back(game.target);
    }
    return question;
  }

  void choose_levels(const GpuView& view) {
    const Question question = ask(view);
    const MenuChoice now = price(question.menus, question.current, question.budget);
    const MenuChoice best = solves_exactly_ ? choose_exactly(question.menus, question.budget)
                                            : choose_greedily(question.menus, question.budget);
    if (now.fits) {
      if (is_worth_it(question, now, best)) adopt(question, best);
    } else {
      adopt(question, without_rash_upgrades(question, best));
    }
  }

  bool has_dwelt(const Game& game) const {
    return !game.has_changed || game.frames >= game.changed_at + dwell_frames_;
  }

  /// Levels that fit are left only for a gain of so much per changed game, and only if none of those changed lately.
  bool is_worth_it(const Question& question, const MenuChoice& now, const MenuChoice& best) const {
    double needed = 0.0;
    for (std::size_t i = 0; i < question.games.size(); ++i) {
      if (best.items[i] == now.items[i]) continue;
      if (!has_dwelt(games_[question.games[i].value])) return false;
      needed += hysteresis_gain_;
    }
    return best.fits && best.value > now.value + needed;
  }

  /// While levels do not fit, downgrades cannot wait; an upgrade that came along with them still does.
  MenuChoice without_rash_upgrades(const Question& question, MenuChoice best) const {
    for (std::size_t i = 0; i < question.games.size(); ++i) {
      const Menu& menu = question.menus[i];
      const bool is_dearer = menu[best.items[i]].cost > menu[question.current[i]].cost;
      const bool gains = menu[best.items[i]].value > menu[question.current[i]].value + hysteresis_gain_;
      if (is_dearer && !(gains && has_dwelt(games_[question.games[i].value]))) best.items[i] = question.current[i];
    }
    return best;
  }

  void adopt(const Question& question, const MenuChoice& choice) {
    for (std::size_t i = 0; i < question.games.size(); ++i) {
      Game& game = games_[question.games[i].value];
      if (game.target == choice.items[i]) continue;
      game.target = choice.items[i];
      game.changed_at = game.frames;
      game.has_changed = true;
    }
  }

  const Duration budget_;
  const bool waits_for_shortage_;
  const std::uint64_t period_frames_;
  const Duration capacity_gap_;
  const double hysteresis_gain_;
  const std::uint64_t dwell_frames_;
  const bool solves_exactly_;
  std::vector<Game> games_;  // by client
  std::uint64_t frames_since_round_ = 0;
};

std::vector<ParameterDescriptor> parameters() {
  constexpr double kMillisecond = 1e6;
  return {
      {.name = "frame_budget", .type = ParameterType::kDuration, .default_value = Duration{33'300us}, .unit = "",
       .minimum = kMillisecond, .maximum = 1'000 * kMillisecond, .choices = {},
       .meaning = "GPU time that one frame of every game may take together.", .source = "poster: 33 ms for 30 FPS"},
      {.name = "headroom", .type = ParameterType::kReal, .default_value = 0.05, .unit = "of the budget", .minimum = 0.0,
       .maximum = 0.9, .choices = {}, .meaning = "Part of the budget that is left free.", .source = "ours"},
      {.name = "trigger", .type = ParameterType::kChoice, .default_value = std::string("periodic"), .unit = "",
       .choices = {"periodic", "threshold"},
       .meaning = "When levels are chosen again: after a round of frames, or when spare time falls below capacity_gap.",
       .source = "periodic is ours; patent: threshold"},
      {.name = "period_frames", .type = ParameterType::kInteger, .default_value = std::int64_t{1}, .unit = "frames",
       .minimum = 1, .maximum = 1'000, .choices = {}, .meaning = "Length of a round, in frames of each game.",
       .source = "ours"},
      {.name = "capacity_gap", .type = ParameterType::kDuration, .default_value = Duration{3ms}, .unit = "",
       .minimum = 0.0, .maximum = 100 * kMillisecond, .choices = {},
       .meaning = "Spare time below which the threshold trigger acts.", .source = "ours, for the patent's threshold"},
      {.name = "hysteresis_gain", .type = ParameterType::kReal, .default_value = 0.02, .unit = "of quality",
       .minimum = 0.0, .maximum = 1.0, .choices = {},
       .meaning = "Quality that each changed game must bring on average before levels that fit are left.",
       .source = "ours"},
      {.name = "dwell_frames", .type = ParameterType::kInteger, .default_value = std::int64_t{15}, .unit = "frames",
       .minimum = 0, .maximum = 10'000, .choices = {},
       .meaning = "Frames that a game keeps a new level before it may be upgraded.", .source = "ours"},
      {.name = "solver", .type = ParameterType::kChoice, .default_value = std::string("greedy_hull"), .unit = "",
       .choices = {"greedy_hull", "exact"},
       .meaning = "Greedy upgrades along the convex hull of each menu, or the optimum.",
       .source = "ours; the paper's solver is not known"},
  };
}

}  // namespace

PolicyDescriptor djay_policy() {
  PolicyDescriptor policy;
  policy.name = "djay";
  policy.summary = "Quality levels of all games are chosen so that their frames fit in one period and look their best.";
  policy.source =
      "S. Grizan, D. Chu, A. Wolman, R. Wattenhofer, \"dJay: enabling high-density multi-tenancy for cloud gaming "
      "servers with dynamic cost-benefit GPU load balancing\", SoCC 2015; its poster; US patent 9,327,199";
  policy.deviations = {
      "There is no public code: the control loop, its constants and the solver are ours.",
      "Cost is the newest measured frame times the menu's ratio, instead of a regression over scenes.",
      "Nobody is turned away: if the cheapest levels do not fit, they are chosen all the same.",
      "Games without a menu keep their setting; their measured time is taken off the budget.",
      "Every gate is open: frames are not serialised into rounds.",
  };
  policy.parameters = parameters();
  policy.needs.frame_events = true;
  policy.needs.quality_levels = true;
  policy.create = [](const Parameters& values) { return std::make_unique<Djay>(values); };
  return policy;
}

}  // namespace corun
