#include "policies/joint/parameters.h"

#include "policies/djay/parameters.h"
#include "policies/pilotfish/parameters.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

void add_share_parameters(ParameterTable& table) {
  table.real("filler_weight", 1.0)
      .range(0.0, 100.0, "of quality")
      .means(
          "Quality that a filler's whole throughput alone is worth; 0 chooses levels as if there were no fillers, "
          "which then get what is left: dJay, and after it PilotFish.")
      .from("ours: as much as the picture of one game");
  table.ratio("share_step", 0.05)
      .range(0.01, 0.5)
      .means("Shares of the frame budget among which a filler's is chosen are multiples of this.")
      .from("ours");
  table.choice("spare", {"fillers", "none"})
      .means(
          "Whether fillers may use more than their shares where nothing else is left to do before the next frame; "
          "fillers with something left of their shares go first.")
      .from("ours; pilotfish: fillers");
}

/// dJay's rows. The smallest of qualities and throughputs is no aim: they cannot be compared.
void add_game_parameters(ParameterTable& table) {
  for (ParameterDescriptor row : djay_parameters()) {
    if (row.name == "objective") {
      std::erase(row.choices, "max_min");
      row.meaning =
          "What is made as large as can be: the sum of the games' qualities and of the fillers' throughputs, times "
          "filler_weight; or that sum weighted by client.";
    }
    if (row.name == "weights")
      row.meaning = "Weight of a client's quality or throughput where the objective is weighted; 1 if not stated.";
    table.add(std::move(row));
  }
}

void add_gate_parameters(ParameterTable& table) {
  const auto ours = [](ParameterDescriptor& row, ParameterValue value, std::string why) {
    row.default_value = std::move(value);
    row.source = "ours: " + std::move(why);
  };
  for (ParameterDescriptor row : pilotfish_parameters()) {
    if (row.name == "target_period") ours(row, 0s, "games have their own pacing");
    if (row.name == "budget") ours(row, std::string("absolute"), "windows end before frames");
    if (row.name == "notify_poll") ours(row, 50us, "as pilotfish_absolute");
    if (row.name == "launch_retry") ours(row, 0s, "as pilotfish_absolute");
    if (row.name == "predictor") ours(row, std::string("position_in_iteration"), "as pilotfish_absolute");
    table.add(std::move(row));
  }
}

}  // namespace

ParameterTable joint_harvest_parameters() {
  ParameterTable table;
  add_share_parameters(table);
  add_game_parameters(table);
  add_gate_parameters(table);
  return table;
}

FillerShares::Settings filler_share_settings(const Parameters& parameters) {
  return {.period = parameters.duration("frame_budget"),
          .weight = parameters.real("filler_weight"),
          .weights = parameters.choice("objective") == "weighted" ? parameters.by_client("weights") : ByClient{},
          .step = parameters.real("share_step"),
          .gives_spare = parameters.choice("spare") == "fillers"};
}

}  // namespace corun
