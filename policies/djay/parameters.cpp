#include "policies/djay/parameters.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr double kMostFrames = 10'000;

void add_loop_parameters(ParameterTable& table) {
  table.duration("frame_budget", 33'300us)
      .range(1ms, 1s)
      .means("GPU time that one frame of every game may take together.")
      .from("poster: 33 ms for 30 FPS");
  table.real("headroom", 0.05)
      .range(0.0, 0.9, "of the budget")
      .means("Part of the budget that is left free; the first frame at a new level may use it.")
      .from("ours");
  table.choice("trigger", {"periodic", "threshold"})
      .means(
          "When levels are chosen again, in addition to joins, leaves and overload: after a round of frames, or when "
          "spare time falls below capacity_gap.")
      .from("periodic is ours; patent: threshold");
  table.integer("period_frames", 1)
      .range(1, kMostFrames, "frames")
      .means("Length of a round, in frames of each game.")
      .from("ours");
  table.duration("capacity_gap", 3ms)
      .range(0ms, 100ms)
      .means("Spare time below which the threshold trigger acts.")
      .from("ours, for the patent's threshold");
  table.real("hysteresis_gain", 0.02)
      .range(0.0, 1.0, "of quality")
      .means("Quality that each changed game must bring on average before levels that fit are left.")
      .from("ours");
  table.integer("dwell_frames", 15)
      .range(0, kMostFrames, "frames")
      .means("Frames that a game keeps a new level, while the levels fit, before it may change again.")
      .from("ours");
  table.duration("settings_switch_cost", 0ms)
      .range(0ms, 1s)
      .means("What a game's first frame at another level is taken to cost more until it has been measured.")
      .from("ours");
  table.integer("switch_patience", 60)
      .range(0, kMostFrames, "frames")
      .means("How long an upgrade whose first frame does not fit is held back before it is made all the same.")
      .from("ours");
}

void add_choice_parameters(ParameterTable& table) {
  table.choice("objective", {"sum", "max_min", "weighted"})
      .means(
          "What is made as large as can be: the sum of the games' qualities; the smallest, then the sum; the sum "
          "weighted by client.")
      .from("paper: sum; the others are ours");
  table.by_client("weights")
      .range(0.01, 100.0)
      .means("Weight of a client's quality where the objective is weighted; 1 if not stated.")
      .from("ours");
  table.choice("solver", {"greedy_hull", "exact", "bins"})
      .means(
          "Greedy upgrades along the convex hull of each menu, the optimum, or the optimum for costs rounded up to "
          "solver_bin. max_min finds the smallest quality exactly, and the sum by the optimum or greedily.")
      .from("ours; the paper's solver is not known");
  table.duration("solver_bin", 100us).range(10us, 10ms).means("Cost step of the solver `bins`.").from("ours");
}

void add_profiler_parameters(ParameterTable& table) {
  table.choice("cost_model", {"regression", "ratio", "static_table"})
      .means(
          "A level's cost: a regression over scenes and settings, or the menu's ratio, times the newest frames; or the "
          "menu's ratio times the mean of all frames.")
      .from("abstract: regression; the others are ours");
  table.real("ridge", 0.01)
      .range(1e-4, 1e4, "1 / variance")
      .means("How far the regression trusts the menu: the pull of its coefficients towards 0.")
      .from("ours: 10 measurements' deviations for a coefficient");
  table.ratio("forgetting", 1.0)
      .range(0.9, 1.0)
      .means("Weight that what the regression learned keeps from frame to frame; 1 forgets nothing.")
      .from("ours: what a game costs just now is measured anyway");
  table.ratio("cost_quantile", 0.5)
      .means(
          "Which quantile of the newest frames a prediction assumes where it is more than the newest one; 0 takes the "
          "newest one alone.")
      .from(
          "ours: of four games with 10 % noise, 2.6 % of rounds overrun the budget at 0, 0.4 % at 0.5 and none at 0.9; "
          "mean quality is 0.82, 0.81 and 0.79");
  table.integer("quantile_frames", 16)
      .range(1, kMostFrames, "frames")
      .means("How many newest frames of the scene cost_quantile is taken of.")
      .from("ours");
  table.integer("probe_every", 15)
      .range(0, kMostFrames, "frames")
      .means(
          "Frames of a game from one shadow frame to the next, if there is room for it; 0 asks for none. Only the "
          "regression asks.")
      .from("ours");
  table.ratio("probe_until", 0.05)
      .means("Error of the last three predictions in a scene at which a game is left alone there.")
      .from("ours: as much as the headroom");
}

void add_admission_parameters(ParameterTable& table) {
  table.choice("admission", {"accept_if_cheapest_fits", "accept_all"})
      .means("Whether a game that joins is refused when even all games' cheapest levels would not fit.")
      .from("ours, from the poster's constraint");
  table.choice("join_level", {"cheapest", "as_configured"}).means("Level of a game until its verdict.").from("ours");
  table.integer("verdict_frames", 2)
      .range(1, kMostFrames, "frames")
      .means("Measured frames of a game before its verdict.")
      .from("ours");
  table.duration("unknown_game_cost", 0ms)
      .range(0ms, 1s)
      .means(
          "What a game is taken to cost at its cheapest level until it has been measured; 0 takes what the dearest "
          "measured game costs at its cheapest.")
      .from("ours");
  table.choice("eviction", {"none", "last_joined"})
      .means("Which game leaves when the cheapest levels of those admitted have not fitted for eviction_frames.")
      .from("ours");
  table.integer("eviction_frames", 60)
      .range(1, kMostFrames, "frames")
      .means("How long they must not have fitted, in frames of the game that joined last.")
      .from("ours");
}

GameModel::Kind cost_model(const Parameters& parameters) {
  const std::string& name = parameters.choice("cost_model");
  if (name == "regression") return GameModel::Kind::kRegression;
  return name == "ratio" ? GameModel::Kind::kRatio : GameModel::Kind::kStaticTable;
}

std::uint64_t frames(const Parameters& parameters, std::string_view name) {
  return static_cast<std::uint64_t>(parameters.integer(name));
}

}  // namespace

ParameterTable djay_parameters() {
  ParameterTable table;
  add_loop_parameters(table);
  add_choice_parameters(table);
  add_profiler_parameters(table);
  add_admission_parameters(table);
  return table;
}

DjayGame::Settings djay_game_settings(const Parameters& parameters) {
  return {.model = {.kind = cost_model(parameters),
                    .ridge = parameters.real("ridge"),
                    .forgetting = parameters.real("forgetting"),
                    .quantile = parameters.real("cost_quantile"),
                    .frames = frames(parameters, "quantile_frames")},
          .first_switch_cost = parameters.duration("settings_switch_cost"),
          .joins_cheapest = parameters.choice("join_level") == "cheapest"};
}

DjayAdmission::Settings djay_admission_settings(const Parameters& parameters) {
  return {.accepts_all = parameters.choice("admission") == "accept_all",
          .verdict_frames = frames(parameters, "verdict_frames"),
          .unknown_cost = parameters.duration("unknown_game_cost"),
          .evicts_last_joined = parameters.choice("eviction") == "last_joined",
          .eviction_frames = frames(parameters, "eviction_frames")};
}

DjayProbes::Settings djay_probe_settings(const Parameters& parameters) {
  const bool learns = cost_model(parameters) == GameModel::Kind::kRegression;
  return {.every = learns ? frames(parameters, "probe_every") : 0, .until = parameters.real("probe_until")};
}

LevelChooser::Settings djay_level_settings(const Parameters& parameters) {
  LevelChooser::Settings settings{.bin = parameters.duration("solver_bin"),
                                  .hysteresis_gain = parameters.real("hysteresis_gain"),
                                  .reserve = parameters.duration("frame_budget") - djay_budget(parameters)};
  if (parameters.choice("objective") == "max_min") settings.objective = LevelChooser::Objective::kMaxMin;
  if (parameters.choice("solver") == "exact") settings.solver = LevelChooser::Solver::kExact;
  if (parameters.choice("solver") == "bins") settings.solver = LevelChooser::Solver::kBins;
  return settings;
}

Duration djay_budget(const Parameters& parameters) {
  const auto whole = static_cast<double>(parameters.duration("frame_budget").count());
  return Duration{static_cast<std::int64_t>(whole * (1.0 - parameters.real("headroom")))};
}

}  // namespace corun
