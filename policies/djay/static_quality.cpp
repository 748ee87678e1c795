/// Static quality - every game gets one quality level when it joins and keeps it, whatever happens.
/// Source:      the static presets All-HI, All-ME and All-LO that dJay (SoCC 2015) is compared with; its poster.
/// Hears:       nothing but joining and leaving.      Needs: frame events, quality levels.
/// Decides:     a game that joins is set to the best, the middle or the cheapest level of its menu. If the server is
///              configured for so many players, the games beyond them are refused.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <vector>

#include "policies/builtin.h"

namespace corun {

namespace {

class StaticQuality : public Policy {
 public:
  explicit StaticQuality(const Parameters& parameters)
      : level_(parameters.choice("level")), most_players_(parameters.integer("most_players")) {}

  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    places_.resize(view.clients.size());
    if (view.client(client).role == Role::kInteractive)
      places_[client.value] = is_full() ? Place::kRefused : Place::kPlays;
  }

  void on_left(const GpuView&, ClientId client) override { places_[client.value] = Place::kNone; }

  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (places_[client.id.value] == Place::kRefused) {
        refuse(client, actions);
      } else {
        serve(client, actions);
      }
    }
  }

 private:
  enum class Place : std::uint8_t { kNone, kPlays, kRefused };

  bool is_full() const { return most_players_ > 0 && std::ranges::count(places_, Place::kPlays) >= most_players_; }

  void refuse(const ClientView& client, Actions& actions) const {
    const auto most = static_cast<double>(most_players_);
    actions.hold(client.id, {"server_full", most + 1, most, "players"});
    actions.refuse(client.id);
  }

  void serve(const ClientView& client, Actions& actions) const {
    if (!client.quality_menu.empty()) {
      const std::uint32_t level = level_of(client.quality_menu);
      if (level != client.quality_level) actions.set_quality(client.id, level);
    }
    actions.open(client.id);
  }

  std::uint32_t level_of(std::span<const QualityLevel> menu) const {
    if (level_ == "best") return 0;
    if (level_ == "middle") return static_cast<std::uint32_t>((menu.size() - 1) / 2);
    return static_cast<std::uint32_t>(std::ranges::min_element(menu, {}, &QualityLevel::cost) - menu.begin());
  }

  const std::string level_;
  const std::int64_t most_players_;
  std::vector<Place> places_;  // by client
};

ParameterTable parameters() {
  ParameterTable table;
  table.choice("level", {"best", "middle", "cheapest"})
      .means("The level of its menu that every game gets.")
      .from("poster: All-HI, All-ME, All-LO");
  table.integer("most_players", 0)
      .range(0, 1'000, "players")
      .means("Games that are served at a time; those that join beyond them are refused. 0 = no limit.")
      .from("ours");
  return table;
}

}  // namespace

PolicyDescriptor static_quality_policy() {
  PolicyDescriptor policy;
  policy.name = "static_quality";
  policy.summary = "Every game gets one quality level when it joins and keeps it; players beyond a limit are refused.";
  policy.source =
      "Static presets All-HI, All-ME, All-LO in S. Grizan, D. Chu, A. Wolman, R. Wattenhofer, \"dJay\", SoCC 2015; its "
      "poster";
  policy.deviations = {
      "Of an even number of levels the better one of the two in the middle counts as the middle one; the poster has "
      "three presets.",
      "most_players is ours: a static server is sized in advance, and the poster states no rule.",
      "Games without a menu keep their setting and count as players.",
  };
  policy.parameters = parameters();
  policy.needs.frame_events = true;
  policy.needs.quality_levels = true;
  policy.create = [](const Parameters& values) { return std::make_unique<StaticQuality>(values); };
  return policy;
}

}  // namespace corun
