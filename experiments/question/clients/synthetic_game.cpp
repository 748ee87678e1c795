#include "experiments/question/clients/synthetic_choice.h"

namespace corun {

namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestFrame{10s};

struct GameReading : GameProfile {
  std::vector<SceneTrace> traces;
};

/// A scene as written: with a capture, the game's profile gets its frames when that is read.
struct SceneReading : GameScene {
  SceneTrace trace;
};

Field<SceneReading> effect_field(std::string_view key, double SceneEffect::*member, double maximum) {
  return {key, "number", [=](const Node& node, SceneReading& out, ScalarReader& read) {
            if (const auto value = read.number(node, 0, maximum)) out.effect.*member = *value;
          }};
}

void read_scene_trace(const Node& node, SceneReading& out, ScalarReader& read) {
  const auto path = read.text(node);
  if (path && path->empty()) read.wrong(node, "`trace` names no file");
  out.trace.path = path.value_or("");
  out.trace.where = node.where;
}

const FieldTable<SceneReading>& scene_fields() {
  static const FieldTable<SceneReading> table = {
      duration_field<SceneReading>("gpu", &GameScene::frame_gpu_mean, Duration(1us), kLongestFrame),
      number_field<SceneReading>("cv", &GameScene::cv, 0, 10),
      {"trace", "path", read_scene_trace},
      {"scale", "number",
       [](const Node& node, SceneReading& out, ScalarReader& read) {
         out.trace.scale = read.number(node, 0.001, 1000).value_or(1);
       }},
      duration_field<SceneReading>("dwell", &GameScene::dwell, Duration(1ms), Duration(24h), "s"),
      effect_field("settings_on_cost", &SceneEffect::on_cost, 3),
      effect_field("settings_on_loss", &SceneEffect::on_loss, 100),
  };
  return table;
}

void check_scene(const Node& node, ScalarReader& read) {
  const bool has_gpu = node.find("gpu") != nullptr, has_trace = node.find("trace") != nullptr;
  if (has_trace && (has_gpu || node.find("cv") != nullptr))
    read.wrong(node, "a scene has `gpu` and `cv`, or the frames of a `trace`: which?");
  if ((!has_gpu && !has_trace) || node.find("dwell") == nullptr)
    read.wrong(node,
               "a scene needs `gpu`, the mean GPU time of its frames, or a `trace` of them, and `dwell`, the "
               "length of a stay");
  if (!has_trace && node.find("scale") != nullptr) read.wrong(node, "`scale` is for the frames of a `trace`");
}

void read_scenes(const Node& node, GameReading& out, ScalarReader& read) {
  constexpr std::string_view kExample = "{ gpu: 6.6ms, cv: 0.08, dwell: 30s }";
  if (!read.expect(node, Node::Kind::kSequence, fmt::format("[{}, ...]", kExample))) return;
  out.scenes.clear();
  for (const Node& item : node.items) {
    if (!read.expect(item, Node::Kind::kMapping, kExample)) continue;
    SceneReading scene;
    read_fields(item, scene_fields(), "key", scene, read);
    check_scene(item, read);
    scene.trace.scene = out.scenes.size();
    if (!scene.trace.path.empty()) out.traces.push_back(scene.trace);
    out.scenes.push_back(scene);
  }
  if (node.items.empty()) read.wrong(node, "at least one scene is needed", fmt::format("for example [{}]", kExample));
}

void read_scene_order(const Node& node, GameReading& out, ScalarReader& read) {
  constexpr std::array<std::string_view, 2> kOrders = {"markov", "listed"};
  if (const auto index = read.choice(node, kOrders)) out.scene_order = static_cast<SceneOrder>(*index);
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

void read_subtasks(const Node& node, GameReading& out, ScalarReader& read) {
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

const FieldTable<GameReading>& game_fields() {
  static const FieldTable<GameReading> table = {
      {"profile", "name", [](const Node&, GameReading&, ScalarReader&) {}},
      duration_field<GameReading>("gpu", &GameProfile::frame_gpu_mean, Duration(0), kLongestFrame),
      number_field<GameReading>("cv", &GameProfile::cv, 0, 10),
      number_field<GameReading>("correlation", &GameProfile::correlation, 0, 0.999999),
      number_field<GameReading>("spike_probability", &GameProfile::spike_probability, 0, 1),
      number_field<GameReading>("spike_factor", &GameProfile::spike_factor, 0, 100),
      duration_field<GameReading>("cpu", &GameProfile::cpu_per_frame, Duration(0), kLongestFrame),
      count_field<GameReading>("visits", &GameProfile::visits, 1, 64),
      duration_field<GameReading>("later_visit", &GameProfile::later_visit, Duration(0), kLongestFrame),
      {"subtasks", "mapping or measured", read_subtasks},
      {"scenes", "list", read_scenes},
      {"scene_order", "choice", read_scene_order},
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
  if (const Node* order = node.find("scene_order"); order != nullptr && game.scenes.empty())
    read.wrong(*order, "`scene_order` needs `scenes`");
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
  GameReading game;
  if (const Node* name = node.find("profile")) {
    const auto profile = find(*name);
    if (!profile) return std::nullopt;
    static_cast<GameProfile&>(game) = *profile;
  }
  read_fields(node, game_fields(), "key", game, read);
  check_game(node, game, read);
  return SyntheticWork{"", static_cast<const GameProfile&>(game), std::move(game.traces)};
}

}  // namespace corun
