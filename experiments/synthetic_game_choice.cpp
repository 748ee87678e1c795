#include "experiments/synthetic_choice.h"

namespace corun {

namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestFrame{10s};

const FieldTable<GameScene>& scene_fields() {
  static const FieldTable<GameScene> table = {
      duration_field("gpu", &GameScene::frame_gpu_mean, Duration(1us), kLongestFrame),
      number_field("cv", &GameScene::cv, 0, 10),
      duration_field("dwell", &GameScene::dwell, Duration(1ms), Duration(24h), "s"),
  };
  return table;
}

void read_scenes(const Node& node, GameProfile& out, ScalarReader& read) {
  constexpr std::string_view kExample = "[{ gpu: 6.6ms, cv: 0.08, dwell: 30s }, ...]";
  if (!read.expect(node, Node::Kind::kSequence, kExample)) return;
  out.scenes.clear();
  for (const Node& item : node.items) {
    if (!read.expect(item, Node::Kind::kMapping, "{ gpu: 6.6ms, cv: 0.08, dwell: 30s }")) continue;
    GameScene& scene = out.scenes.emplace_back();
    read_fields(item, scene_fields(), "key", scene, read);
    if (item.find("gpu") == nullptr || item.find("dwell") == nullptr)
      read.wrong(item, "a scene needs `gpu`, the mean GPU time of its frames, and `dwell`, the mean length of a stay");
  }
}

const FieldTable<FrameSubtasks>& subtask_fields() {
  static const FieldTable<FrameSubtasks> table = {
      count_field("least", &FrameSubtasks::least, 1, 64),
      count_field("most", &FrameSubtasks::most, 1, 64),
      duration_field("gap", &FrameSubtasks::gap_mean, Duration(0), Duration(1s)),
      duration_field("longest_gap_sum", &FrameSubtasks::longest_gap_sum, Duration(0), kLongestFrame),
  };
  return table;
}

/// Draws of gaps that are too long are repeated: beyond this, hardly any draw would do.
bool can_be_drawn(const FrameSubtasks& subtasks) {
  return subtasks.longest_gap_sum == Duration{0} ||
         2 * subtasks.longest_gap_sum >= (subtasks.most - 1) * subtasks.gap_mean;
}

void read_subtasks(const Node& node, GameProfile& out, ScalarReader& read) {
  if (node.is_scalar()) {
    constexpr std::array<std::string_view, 1> kNames = {"measured"};
    if (read.choice(node, kNames)) out.subtasks = measured_subtasks();
    return;
  }
  FrameSubtasks subtasks = measured_subtasks();
  if (!read.expect(node, Node::Kind::kMapping, "{ least: 5, most: 8, gap: 0.26ms }, or `measured`")) return;
  read_fields(node, subtask_fields(), "key", subtasks, read);
  if (subtasks.least > subtasks.most)
    read.wrong(node, fmt::format("`least` is {}, `most` only {}", subtasks.least, subtasks.most));
  if (!can_be_drawn(subtasks))
    read.wrong(node, "`longest_gap_sum` is below half of what the gaps of the most pieces sum to on average");
  out.subtasks = subtasks;
}

const FieldTable<GameProfile>& game_fields() {
  static const FieldTable<GameProfile> table = {
      {"profile", "name", [](const Node&, GameProfile&, ScalarReader&) {}},
      duration_field("gpu", &GameProfile::frame_gpu_mean, Duration(0), kLongestFrame),
      number_field("cv", &GameProfile::cv, 0, 10),
      number_field("correlation", &GameProfile::correlation, 0, 0.999999),
      number_field("spike_probability", &GameProfile::spike_probability, 0, 1),
      number_field("spike_factor", &GameProfile::spike_factor, 0, 100),
      duration_field("cpu", &GameProfile::cpu_per_frame, Duration(0), kLongestFrame),
      count_field("visits", &GameProfile::visits, 1, 64),
      duration_field("later_visit", &GameProfile::later_visit, Duration(0), kLongestFrame),
      {"subtasks", "mapping or measured", read_subtasks},
      {"scenes", "list", read_scenes},
  };
  return table;
}

void check_game(const Node& node, const GameProfile& game, ScalarReader& read) {
  if (game.frame_gpu_mean <= Duration::zero() && game.scenes.empty())
    read.wrong(node, "a game needs `gpu`, the mean GPU time of a frame");
  const bool has_visits = node.find("visits") != nullptr || node.find("later_visit") != nullptr;
  if (has_visits && node.find("subtasks") != nullptr)
    read.wrong(node, "a frame is cut into `visits` or into `subtasks`: which?");
  if (!game.scenes.empty() && (node.find("gpu") != nullptr || node.find("cv") != nullptr))
    read.wrong(node, "with `scenes`, `gpu` and `cv` are those of each scene");
}

}  // namespace

std::optional<SyntheticWork> read_game(const Node& node, ScalarReader& read) {
  const auto find = [&](const Node& name) {
    return named_profile(name, "game", game_profile, game_profile_names(), read);
  };
  if (node.is_scalar()) {
    const auto profile = find(node);
    if (!profile) return std::nullopt;
    return SyntheticWork{node.text, *profile};
  }
  if (!read.expect(node, Node::Kind::kMapping, "{ gpu: 2.2ms, visits: 2 }")) return std::nullopt;
  GameProfile game;
  if (const Node* name = node.find("profile")) {
    const auto profile = find(*name);
    if (!profile) return std::nullopt;
    game = *profile;
  }
  read_fields(node, game_fields(), "key", game, read);
  check_game(node, game, read);
  return SyntheticWork{"", game};
}

}  // namespace corun
