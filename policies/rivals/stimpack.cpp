/// Stimpack - round by round one game goes one quality level down if any is too slow, or one up if all are fast.
/// Source:      J. Heo, V. Wang, K. Bhardwaj, A. Gavrilovska, "Stimpack: an adaptive rendering optimization system for
///              scalable cloud gaming", NSDI 2026, section 4.3. Artifact: gt-stimpack/Stimpack (runtime/rq_manager.py,
///              common.py, fl_monitor.py), gt-stimpack/Stimpack-UE-Plugin (AppController.cpp).
/// Hears:       frames.      Needs: frame events, quality levels, device time.
/// Decides:     at the end of a round every game with a level to give up or to gain is scored, half by the change of
///              quality relative to the span of all menus, half by its frame rate on a logarithmic scale. If one with a
///              level to give up is too slow, the lowest score goes a level down. Otherwise, if those with a level to
///              gain are all fast enough, the highest score goes a level up, provided that it has frames to spare. A
///              game that goes back down to the level that it had shortly before makes all rounds pause, longer each
///              time.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "policies/builtin.h"
#include "policies/parts/rendering.h"

namespace corun {

namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

double seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }

/// Steps one level towards better pictures (up) or cheaper ones.
enum class Direction : std::uint8_t { kDown, kUp };

class Stimpack : public Policy {
 public:
  explicit Stimpack(const Parameters& parameters)
      : round_(parameters.duration("round")),
        fps_window_(std::min(parameters.duration("fps_window"), round_)),
        demote_below_(parameters.real("demote_below")),
        promote_all_from_(parameters.real("promote_all_from")),
        promote_fps_(parameters.real("promote_fps")),
        fps_upper_(parameters.real("fps_upper")),
        demote_weight_(parameters.real("demote_weight")),
        promote_weight_(parameters.real("promote_weight")),
        backs_off_(parameters.boolean("backoff")),
        backoff_base_(static_cast<std::uint64_t>(parameters.integer("backoff_base"))),
        backoff_most_(parameters.integer("backoff_most")),
        oscillation_rounds_(static_cast<std::uint64_t>(parameters.integer("oscillation_rounds"))),
        starts_cheapest_(parameters.choice("start") == "cheapest") {}

  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = true}; }

  void on_joined(const GpuView& view, ClientId client) override {
    games_.resize(view.clients.size());
    games_[client.value] = game_of(view.client(client));
    if (round_end_ == kNever && has_game(view)) begin_round(view);
  }

  void on_left(const GpuView& view, ClientId client) override {
    games_[client.value] = Game{};
    if (!has_game(view)) round_end_ = kNever;
  }

  void on_frame(const GpuView&, ClientId client, FrameEvent event) override {
    if (event == FrameEvent::kEnd) ++games_[client.value].frames;
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (round_end_ != kNever) keep_time(view, actions);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      actions.open(client.id);
      const std::uint32_t level = games_[client.id.value].now.level;
      if (!client.quality_menu.empty() && level != client.quality_level) actions.set_quality(client.id, level);
    }
  }

 private:
  /// A level and the round in which it was chosen; none = the one that the game joined with.
  struct Choice {
    std::uint32_t level = 0;
    std::optional<std::uint64_t> round;
  };

  /// What had been counted when the window of the round began.
  struct Count {
    std::uint64_t frames;
    Duration device_time;
  };

  struct Game {
    Choice now;
    std::optional<Choice> before;
    std::uint64_t frames = 0;
    std::optional<Count> window;  // empty = it was not there when the window began
  };

  /// One that may be moved.
  struct Candidate {
    ClientId client;
    double fps;
    double score;
  };

  Game game_of(const ClientView& client) const {
    Game game;
    const auto& menu = client.quality_menu;
    game.now.level =
        starts_cheapest_ && !menu.empty() ? static_cast<std::uint32_t>(menu.size() - 1) : client.quality_level;
    return game;
  }

  void keep_time(const GpuView& view, Actions& actions) {
    if (view.now >= round_end_) {
      end_round(view);
      begin_round(view);
    }
    if (!in_window_ && view.now >= round_end_ - fps_window_) begin_window(view);
    actions.wake_at(in_window_ ? round_end_ : round_end_ - fps_window_);
  }

  void begin_round(const GpuView& view) {
    round_end_ = view.now + round_;
    in_window_ = false;
  }

  void begin_window(const GpuView& view) {
    in_window_ = true;
    busy_at_window_ = view.device.busy;
    for (const ClientView& client : view.clients)
      if (is_game(client)) games_[client.id.value].window = Count{games_[client.id.value].frames, client.device_time};
  }

  void end_round(const GpuView& view) {
    ++rounds_;
    if (rounds_ >= next_active_round_ && !demote(view)) promote(view);
    for (Game& game : games_) game.window.reset();
  }

  bool demote(const GpuView& view) {
    const std::vector<Candidate> candidates = find_candidates(view, Direction::kDown);
    if (std::ranges::none_of(candidates, [&](const Candidate& game) { return game.fps < demote_below_; })) return false;
    move(std::ranges::min_element(candidates, {}, &Candidate::score)->client, Direction::kDown);
    return true;
  }

  void promote(const GpuView& view) {
    const std::vector<Candidate> candidates = find_candidates(view, Direction::kUp);
    if (candidates.empty()) return;
    if (std::ranges::any_of(candidates, [&](const Candidate& game) { return game.fps < promote_all_from_; })) return;
    const Candidate& best = *std::ranges::max_element(candidates, {}, &Candidate::score);
    if (best.fps >= promote_fps_) move(best.client, Direction::kUp);
  }

  std::vector<Candidate> find_candidates(const GpuView& view, Direction direction) const {
    const double span = quality_span(view);
    const double weight = direction == Direction::kUp ? promote_weight_ : demote_weight_;
    std::vector<Candidate> candidates;
    for (const ClientView& client : view.clients) {
      if (!is_game(client) || !is_judged(games_[client.id.value]) || !can_move(client, direction)) continue;
      const auto& menu = client.quality_menu;
      const std::uint32_t level = games_[client.id.value].now.level;
      const double change = std::abs(menu[neighbour(level, direction)].quality - menu[level].quality);
      const double fps = fps_of(view, client);
      candidates.push_back(
          {client.id, fps, rounded(weight * (span > 0 ? change / span : 0.0) + (1 - weight) * fps_score(fps))});
    }
    return candidates;
  }

  static bool is_judged(const Game& game) { return game.window && game.frames > 0; }

  bool can_move(const ClientView& client, Direction direction) const {
    const std::uint32_t level = games_[client.id.value].now.level;
    return direction == Direction::kUp ? level > 0 : level + 1 < client.quality_menu.size();
  }

  static std::uint32_t neighbour(std::uint32_t level, Direction direction) {
    return direction == Direction::kUp ? level - 1 : level + 1;
  }

  /// From the worst quality of any present game's menu to the best.
  static double quality_span(const GpuView& view) {
    double worst = 1.0, best = 0.0;
    for (const ClientView& client : view.clients)
      for (const QualityLevel& level : is_game(client) ? client.quality_menu : std::span<const QualityLevel>{}) {
        worst = std::min(worst, level.quality);
        best = std::max(best, level.quality);
      }
    return best - worst;
  }

  double fps_of(const GpuView& view, const ClientView& client) const {
    const Game& game = games_[client.id.value];
    const double fps = static_cast<double>(game.frames - game.window->frames) / seconds(fps_window_);
    const bool is_held_back =
        client.frame_period > Duration::zero() && 1.0 / seconds(client.frame_period) < promote_fps_;
    const Duration own = client.device_time - game.window->device_time;
    if (!is_held_back || own <= Duration::zero()) return fps;
    const Duration idle = std::max(fps_window_ - (view.device.busy - busy_at_window_), Duration::zero());
    return fps * seconds(own + idle) / seconds(own);
  }

  /// 1 at fps_upper, falling by 1 with each power of ten below it, never negative.
  double fps_score(double fps) const { return std::max(0.0, 1.0 + std::log10(std::min(fps, fps_upper_) / fps_upper_)); }

  /// Scores are compared to three decimals; of equal ones the first client's counts.
  static double rounded(double score) { return std::round(score * 1'000) / 1'000; }

  void move(ClientId client, Direction direction) {
    Game& game = games_[client.value];
    const std::uint32_t level = neighbour(game.now.level, direction);
    if (backs_off_ && game.before) watch_oscillation(*game.before, level, direction);
    game.before = std::exchange(game.now, Choice{level, rounds_});
  }

  /// Only going down again pauses the rounds; going up again makes the next pause longer.
  void watch_oscillation(const Choice& before, std::uint32_t level, Direction direction) {
    const bool goes_back = level == before.level;
    const bool is_recent = !before.round || *before.round + oscillation_rounds_ >= rounds_;
    if (goes_back && is_recent) {
      if (direction == Direction::kDown) next_active_round_ = rounds_ + pause();
      backoff_ = std::min(backoff_ + 1, backoff_most_);
    } else if (goes_back == (direction == Direction::kDown)) {
      backoff_ = 1;
    }
  }

  std::uint64_t pause() const {
    std::uint64_t rounds = 1;
    for (std::int64_t i = 0; i < backoff_; ++i) rounds *= backoff_base_;
    return rounds;
  }

  const Duration round_, fps_window_;
  const double demote_below_, promote_all_from_, promote_fps_, fps_upper_;
  const double demote_weight_, promote_weight_;
  const bool backs_off_;
  const std::uint64_t backoff_base_;
  const std::int64_t backoff_most_;
  const std::uint64_t oscillation_rounds_;
  const bool starts_cheapest_;
  std::vector<Game> games_;    // by client
  Time round_end_ = kNever;    // kNever = there is no game
  bool in_window_ = false;     // the part of the round in which frames count
  Duration busy_at_window_{};  // the device's, when that part began
  std::uint64_t rounds_ = 0;   // ended
  std::uint64_t next_active_round_ = 0;
  std::int64_t backoff_ = 1;  // exponent of the next pause
};

ParameterTable parameters() {
  ParameterTable table;
  table.duration("round", 5s)
      .range(10ms, 1min)
      .means("Time between two looks, at each of which one game is moved one level at most.")
      .from("artifact: rq_adjustment_period");
  table.duration("fps_window", 3s)
      .range(10ms, 1min)
      .means("Last part of a round in which frames are counted; no more than the round.")
      .from("artifact: fl_wnd_size = 3 reports, one per second");
  table.real("demote_below", 29.0)
      .range(1.0, 1000.0, "frames/s")
      .means("Rate below which a game that has a level to give up makes one game go down.")
      .from("artifact: find_demote_user");
  table.real("promote_all_from", 33.0)
      .range(1.0, 1000.0, "frames/s")
      .means("Rate that every game with a level to gain must have for one to go up.")
      .from("artifact: find_promote_user");
  table.real("promote_fps", 38.0)
      .range(1.0, 1000.0, "frames/s")
      .means("Rate that the game itself must have to go up.")
      .from("artifact: 30 + fps_buffer of 8");
  table.real("fps_upper", 120.0)
      .range(1.0, 1000.0, "frames/s")
      .means("Rate with the full score.")
      .from("artifact: common.py");
  table.real("demote_weight", 0.5)
      .range(0.0, 1.0)
      .means("Weight of quality against frame rate in the score by which games go down.")
      .from("artifact: common.py");
  table.real("promote_weight", 0.5)
      .range(0.0, 1.0)
      .means("Weight of quality against frame rate in the score by which games go up.")
      .from("artifact: common.py");
  table.boolean("backoff", true)
      .means("Whether games that go up and down make the rounds pause.")
      .from("artifact: backoff_switch");
  table.integer("backoff_base", 2)
      .range(1, 10)
      .means("Rounds from the first oscillation to the next move, and the factor for each one after it.")
      .from("artifact: common.py");
  table.integer("backoff_most", 3)
      .range(1, 10)
      .means("Exponent of backoff_base in the longest pause.")
      .from("artifact: backoff_count_max");
  table.integer("oscillation_rounds", 4)
      .range(0, 1'000, "rounds")
      .means("A level that was chosen so many rounds ago, or fewer, is gone back to.")
      .from("artifact: address_rq_oscillation_by_exp_backoff");
  table.choice("start", {"cheapest", "unchanged"})
      .means("Level that a game gets when it joins.")
      .from("artifact: users are registered with level 0, the lowest");
  return table;
}

}  // namespace

PolicyDescriptor stimpack_policy() {
  PolicyDescriptor policy;
  policy.name = "stimpack";
  policy.summary = "Every five seconds one game goes a quality level down if any is too slow, or up if all are fast.";
  policy.source =
      "J. Heo, V. Wang, K. Bhardwaj, A. Gavrilovska, \"Stimpack: an adaptive rendering optimization system for "
      "scalable cloud gaming\", NSDI 2026; artifact gt-stimpack/Stimpack (runtime) and gt-stimpack/Stimpack-UE-Plugin";
  policy.deviations = {
      "Quality is the menu's. The artifact predicts how much of it is left in the encoded stream; neither encoders nor "
      "networks are modelled.",
      "A game that its pacing keeps below promote_fps counts as running at the rate that it would reach with the "
      "device's idle time: its rate, times its device time with all idle time added over its device time. At 30 FPS it "
      "could otherwise never be promoted; the artifact's games are paced at 120 FPS and always measured.",
      "A rate is the frames that ended in the last fps_window of the round, instead of the mean of three reports in "
      "whole milliseconds; a game is judged from its first frame and whole window on.",
      "Menus have any number of levels, not four; a level takes effect with the next frame, not within a second.",
      "Each game has a history of its own; in the artifact all share one until they have been changed once.",
      "Rounds begin with the first game and end with the last.",
  };
  policy.parameters = parameters();
  policy.needs.frame_events = true;
  policy.needs.quality_levels = true;
  policy.needs.device_time = true;
  policy.create = [](const Parameters& values) { return std::make_unique<Stimpack>(values); };
  return policy;
}

}  // namespace corun
