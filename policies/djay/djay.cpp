/// dJay - chooses every game's quality level so that all their frames fit in one period and look as good as they can.
/// Source:      S. Grizan, D. Chu, A. Wolman, R. Wattenhofer, "dJay: enabling high-density multi-tenancy for cloud
///              gaming servers with dynamic cost-benefit GPU load balancing", SoCC 2015; poster; US patent 9,327,199.
/// Hears:       frames.      Needs: frame events, quality levels.
/// Decides:     a profiler learns from frames, and from shadow frames that are rendered in spare time, what each level
///              of each game costs and how good it looks in the scene at hand. After each round of frames, or when the
///              spare time runs low, an optimiser solves a Multiple Choice Knapsack: most quality whose summed GPU time
///              fits in a frame period. Downgrades happen at once; upgrades wait for a gain worth having, for some
///              while, and until the slow first frame at the new level fits too. A game that joins starts at its
///              cheapest level; it is refused if it could not be rendered with every game at its cheapest.
/// Parameters:  see djay_parameters.cpp (each with unit and origin). The loop without profiler and admission, as it may
///              be compared with, is `cost_model: ratio, cost_quantile: 0, admission: accept_all, join_level:
///              as_configured, verdict_frames: 1`.
/// Departs:     see deviations

#include "policies/djay/djay.h"

#include <algorithm>
#include <utility>

#include "policies/builtin.h"
#include "policies/parts/rendering.h"

namespace corun {

namespace {

using Standing = DjayGame::Standing;

void turn_away(const DjayGame& game, Actions& actions) {
  actions.close(game.id());
  actions.hold(game.id(), game.why_refused());
  actions.refuse(game.id());
}

/// Games that arrive or have a single level are no part of the question: room is left for them.
bool has_a_choice(const DjayGame& game) { return game.standing() == Standing::kAdmitted && game.model().levels() > 1; }

}  // namespace

Djay::Djay(const Parameters& parameters)
    : frame_budget_(parameters.duration("frame_budget")),
      budget_(djay_budget(parameters)),
      waits_for_shortage_(parameters.choice("trigger") == "threshold"),
      period_frames_(static_cast<std::uint64_t>(parameters.integer("period_frames"))),
      capacity_gap_(parameters.duration("capacity_gap")),
      dwell_frames_(static_cast<std::uint64_t>(parameters.integer("dwell_frames"))),
      switch_patience_(static_cast<std::uint64_t>(parameters.integer("switch_patience"))),
      weights_(parameters.choice("objective") == "weighted" ? parameters.by_client("weights") : ByClient{}),
      game_settings_(djay_game_settings(parameters)),
      admission_(djay_admission_settings(parameters)),
      probes_(djay_probe_settings(parameters)),
      chooser_(djay_level_settings(parameters)) {}

void Djay::on_joined(const GpuView& view, ClientId client) {
  games_.resize(view.clients.size());
  if (view.client(client).role != Role::kInteractive) return;
  games_[client.value].emplace(game_settings_, view.client(client), joined_++);
  probes_.joined(client);
  choose_levels(view, Occasion::kOtherGames);
}

void Djay::on_left(const GpuView& view, ClientId client) {
  games_[client.value].reset();
  probes_.left(client);
  choose_levels(view, Occasion::kOtherGames);
}

void Djay::on_frame(const GpuView& view, ClientId client, FrameEvent event) {
  auto& game = games_[client.value];
  if (event != FrameEvent::kEnd || !game) return;
  game->frame_ended(view.client(client).frame);
  ++frames_since_round_;
  admission_.evict(games_, client, budget_);
  if (admission_.judge(games_, client, budget_)) {
    choose_levels(view, Occasion::kOtherGames);
  } else if (is_overloaded() || is_round_over()) {
    choose_levels(view, Occasion::kOtherCosts);
  }
  probes_.ask(games_, budget_ - expected_sum() - cost_of_others());
}

void Djay::on_shadow(const GpuView& view, ClientId client, const ShadowFrame& shadow) {
  probes_.answered(client);
  if (games_[client.value]) games_[client.value]->learn_shadow(shadow);
  if (const auto occasion = std::exchange(postponed_, std::nullopt)) choose_levels(view, *occasion);
}

void Djay::decide(const GpuView& view, Actions& actions) {
  for (const ClientView& client : view.clients)
    if (client.is_present) serve(client, actions);
  ask_for_shadow(actions);
}

void Djay::decide_games(const GpuView& view, Actions& actions) const {
  for (const ClientView& client : view.clients)
    if (is_game(client)) serve(client, actions);
  ask_for_shadow(actions);
}

void Djay::share_budget(const GpuView& view, std::vector<Menu> others) {
  others_ = std::move(others);
  choose_levels(view, Occasion::kOtherCosts);
}

void Djay::serve(const ClientView& client, Actions& actions) const {
  const auto& game = games_[client.id.value];
  if (game && game->standing() == Standing::kRefused) return turn_away(*game, actions);
  actions.open(client.id);
  if (game && game->target() < client.quality_menu.size()) actions.set_quality(client.id, game->target());
}

void Djay::ask_for_shadow(Actions& actions) const {
  if (probes_.is_waiting()) actions.shadow(probes_.wish()->client, probes_.wish()->level);
}

std::uint64_t Djay::measured_games() const {
  const auto is_measured = [](const auto& game) { return game && game->model().frames() > 0; };
  return static_cast<std::uint64_t>(std::ranges::count_if(games_, is_measured));
}

Duration Djay::expected_sum() const {
  const Duration unknown = admission_.unknown_cost(games_);
  Duration sum{};
  for (const auto& game : games_)
    if (game && game->standing() != Standing::kRefused) sum += game->expected_cost(unknown);
  return sum;
}

Duration Djay::cost_of_others() const {
  return chosen_for_others_.empty() ? Duration{} : price(others_, chosen_for_others_, budget_).cost;
}

bool Djay::is_overloaded() const {
  Duration measured{};
  for (const auto& game : games_)
    if (game && game->standing() != Standing::kRefused) measured += game->newest_time();
  return measured > frame_budget_ || expected_sum() > budget_;
}

bool Djay::is_round_over() const {
  if (waits_for_shortage_) return budget_ - expected_sum() < capacity_gap_;
  return frames_since_round_ >= period_frames_ * measured_games();
}

LevelChooser::Contender Djay::contender(const ClientView& client, const DjayGame& game, Occasion occasion) const {
  const auto weight = weights_.find(client.name);
  LevelChooser::Contender its;
  for (std::uint32_t level = 0; level < game.model().levels(); ++level)
    its.menu.push_back(
        {game.model().cost(level), game.model().quality(level) * (weight == weights_.end() ? 1.0 : weight->second)});
  its.current = game.target();
  // A shadow frame was asked for since there was room for it; upgrades wait until it is rendered.
  const bool is_settled = occasion == Occasion::kOtherCosts && !game.has_dwelt(dwell_frames_);
  its.may_change = !is_settled && !probes_.is_waiting();
  its.switch_cost = game.held_back_for() < switch_patience_ ? game.switch_cost() : Duration{0};
  return its;
}

void Djay::choose_levels(const GpuView& view, Occasion occasion) {
  frames_since_round_ = 0;
  postponed_ = probes_.is_waiting() ? std::optional(std::max(occasion, postponed_.value_or(occasion))) : std::nullopt;
  const Duration unknown = admission_.unknown_cost(games_);
  Duration budget = budget_, pending{};
  std::vector<DjayGame*> asked;
  std::vector<LevelChooser::Contender> contenders;
  for (auto& game : games_) {
    if (!game || game->standing() == Standing::kRefused) continue;
    if (!game->is_at_target()) pending += game->switch_cost();
    if (!has_a_choice(*game)) {
      budget -= game->expected_cost(unknown);
      continue;
    }
    asked.push_back(&*game);
    contenders.push_back(contender(view.client(game->id()), *game, occasion));
  }
  LevelChooser::Answer answer = chooser_.choose(contenders, budget, pending, others_);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    asked[i]->set_target(answer.levels[i]);
    if (contenders[i].may_change) asked[i]->note_held_back(answer.is_held_back[i]);
  }
  chosen_for_others_ = std::move(answer.others);
}

PolicyDescriptor djay_policy() {
  PolicyDescriptor policy;
  policy.name = "djay";
  policy.summary = "Quality levels of all games are chosen so that their frames fit in one period and look their best.";
  policy.source =
      "S. Grizan, D. Chu, A. Wolman, R. Wattenhofer, \"dJay: enabling high-density multi-tenancy for cloud gaming "
      "servers with dynamic cost-benefit GPU load balancing\", SoCC 2015; its poster; US patent 9,327,199";
  policy.deviations = {
      "There is no public code: form and features of the regression, the loop, its constants, the solver and admission "
      "are ours; the paper names the parts.",
      "The regression knows a scene only by its number: captures carry no draw calls, triangles or lights.",
      "Cost is in proportion to the time of the newest frames; the regression predicts how levels differ.",
      "Quality is the value of the menu or of a shadow frame; only a game can compute SSIM against its best level.",
      "Games are the interactive clients; those without a menu keep their setting, and their predicted time is taken "
      "off the budget.",
      "Every gate is open: frames are not serialised into rounds, and each game counts with one frame per budget, "
      "however fast it is paced.",
      "A game that is turned away is refused; there is no other server to move it to.",
      "Live, a game reads its level from a file (`CORUN_QUALITY`), and programs as they are render no shadow frames: "
      "`probe_every: 0`. The paper's games, Doom 3 and Fable 3, are synthetic ones here.",
  };
  policy.parameters = djay_parameters();
  policy.needs.frame_events = true;
  policy.needs.quality_levels = true;
  policy.create = [](const Parameters& values) { return std::make_unique<Djay>(values); };
  return policy;
}

}  // namespace corun
