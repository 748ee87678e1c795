#include "policies/djay/parameters.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

using Table = std::vector<ParameterDescriptor>;

void add_duration(Table& table, std::string name, Duration default_value, Duration minimum, Duration maximum,
                  std::string meaning, std::string source) {
  table.push_back({.name = std::move(name),
                   .type = ParameterType::kDuration,
                   .default_value = default_value,
                   .unit = "",
                   .minimum = static_cast<double>(to_ns(minimum)),
                   .maximum = static_cast<double>(to_ns(maximum)),
                   .choices = {},
                   .meaning = std::move(meaning),
                   .source = std::move(source)});
}

void add_real(Table& table, std::string name, double default_value, std::string unit, double minimum, double maximum,
              std::string meaning, std::string source) {
  table.push_back({.name = std::move(name),
                   .type = ParameterType::kReal,
                   .default_value = default_value,
                   .unit = std::move(unit),
                   .minimum = minimum,
                   .maximum = maximum,
                   .choices = {},
                   .meaning = std::move(meaning),
                   .source = std::move(source)});
}

void add_frames(Table& table, std::string name, std::int64_t default_value, std::int64_t minimum, std::string meaning,
                std::string source) {
  table.push_back({.name = std::move(name),
                   .type = ParameterType::kInteger,
                   .default_value = default_value,
                   .unit = "frames",
                   .minimum = static_cast<double>(minimum),
                   .maximum = 10'000,
                   .choices = {},
                   .meaning = std::move(meaning),
                   .source = std::move(source)});
}

/// The first of the choices is the default.
void add_choice(Table& table, std::string name, std::vector<std::string> choices, std::string meaning,
                std::string source) {
  table.push_back({.name = std::move(name),
                   .type = ParameterType::kChoice,
                   .default_value = choices.front(),
                   .unit = "",
                   .choices = choices,
                   .meaning = std::move(meaning),
                   .source = std::move(source)});
}

void add_loop_parameters(Table& table) {
  add_duration(table, "frame_budget", 33'300us, 1ms, 1s, "GPU time that one frame of every game may take together.",
               "poster: 33 ms for 30 FPS");
  add_real(table, "headroom", 0.05, "of the budget", 0.0, 0.9,
           "Part of the budget that is left free; the first frame at a new level may use it.", "ours");
  add_choice(table, "trigger", {"periodic", "threshold"},
             "When levels are chosen again, beside joins, leaves and overload: after a round of frames, or when spare "
             "time falls below capacity_gap.",
             "periodic is ours; patent: threshold");
  add_frames(table, "period_frames", 1, 1, "Length of a round, in frames of each game.", "ours");
  add_duration(table, "capacity_gap", 3ms, 0ms, 100ms, "Spare time below which the threshold trigger acts.",
               "ours, for the patent's threshold");
  add_real(table, "hysteresis_gain", 0.02, "of quality", 0.0, 1.0,
           "Quality that each changed game must bring on average before levels that fit are left.", "ours");
  add_frames(table, "dwell_frames", 15, 0,
             "Frames that a game keeps a new level, while the levels fit, before it may change again.", "ours");
  add_duration(table, "settings_switch_cost", 0ms, 0ms, 1s,
               "What a game's first frame at another level is taken to cost more until it has been measured.", "ours");
  add_frames(table, "switch_patience", 60, 0,
             "How long an upgrade whose first frame does not fit is held back before it is made all the same.", "ours");
}

void add_choice_parameters(Table& table) {
  add_choice(table, "objective", {"sum", "max_min", "weighted"},
             "What is made as large as can be: the sum of the games' qualities; the smallest, then the sum; the sum "
             "weighted by client.",
             "paper: sum; the others are ours");
  table.push_back({.name = "weights",
                   .type = ParameterType::kByClient,
                   .default_value = ByClient{},
                   .unit = "",
                   .minimum = 0.01,
                   .maximum = 100.0,
                   .choices = {},
                   .meaning = "Weight of a client's quality where the objective is weighted; 1 if not stated.",
                   .source = "ours"});
  add_choice(table, "solver", {"greedy_hull", "exact", "bins"},
             "Greedy upgrades along the convex hull of each menu, the optimum, or the optimum for costs rounded up to "
             "solver_bin. max_min finds the smallest quality exactly, and the sum by the optimum or greedily.",
             "ours; the paper's solver is not known");
  add_duration(table, "solver_bin", 100us, 10us, 10ms, "Cost step of the solver `bins`.", "ours");
}

void add_profiler_parameters(Table& table) {
  add_choice(table, "cost_model", {"regression", "ratio", "static_table"},
             "A level's cost: a regression over scenes and settings, or the menu's ratio, times the newest frames; or "
             "the menu's ratio times the mean of all frames.",
             "abstract: regression; the others are ours");
  add_real(table, "ridge", 0.01, "1 / variance", 1e-4, 1e4,
           "How far the regression trusts the menu: the pull of its coefficients towards 0.",
           "ours: 10 measurements' deviations for a coefficient");
  add_real(table, "forgetting", 1.0, "ratio", 0.9, 1.0,
           "Weight that what the regression learned keeps from frame to frame; 1 forgets nothing.",
           "ours: what a game costs just now is measured anyway");
  add_real(
      table, "cost_quantile", 0.5, "ratio", 0.0, 1.0,
      "Which quantile of the newest frames a prediction assumes where it is more than the newest one; 0 takes the "
      "newest one alone.",
      "ours: of four games with 10 % noise, 2.6 % of rounds overrun the budget at 0, 0.4 % at 0.5 and none at 0.9; "
      "mean quality is 0.82, 0.81 and 0.79");
  add_frames(table, "quantile_frames", 16, 1, "How many newest frames of the scene cost_quantile is taken of.", "ours");
  add_frames(table, "probe_every", 15, 0,
             "Frames of a game from one shadow frame to the next, if there is room for it; 0 asks for none. Only the "
             "regression asks.",
             "ours");
  add_real(table, "probe_until", 0.05, "ratio", 0.0, 1.0,
           "Error of the last three predictions in a scene at which a game is left alone there.",
           "ours: as much as the headroom");
}

void add_admission_parameters(Table& table) {
  add_choice(table, "admission", {"accept_if_cheapest_fits", "accept_all"},
             "Whether a game that joins is refused when even all games' cheapest levels would not fit.",
             "ours, from the poster's constraint");
  add_choice(table, "join_level", {"cheapest", "as_configured"}, "Level of a game until its verdict.", "ours");
  add_frames(table, "verdict_frames", 2, 1, "Measured frames of a game before its verdict.", "ours");
  add_duration(
      table, "unknown_game_cost", 0ms, 0ms, 1s,
      "What a game is taken to cost at its cheapest level until it has been measured; 0 takes what the dearest "
      "measured game costs at its cheapest.",
      "ours");
  add_choice(table, "eviction", {"none", "last_joined"},
             "Who leaves when the cheapest levels of those admitted have not fitted for eviction_frames.", "ours");
  add_frames(table, "eviction_frames", 60, 1, "In frames of the game that joined last.", "ours");
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

std::vector<ParameterDescriptor> djay_parameters() {
  Table table;
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
