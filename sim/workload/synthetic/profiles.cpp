#include <algorithm>
#include <array>

#include "sim/workload/synthetic/synthetic.h"

namespace corun {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

template <class Profile>
struct Named {
  std::string_view name;
  std::string_view origin;
  Profile profile;
};

// Host work per frame is ours throughout: small enough to hide behind the GPU work of the frame before.
constexpr Duration kHostWork = milliseconds{1};
constexpr std::string_view kLego =
    "LEGO (HPCA 2026), RTX 4090 at 4K: longest frame, spikes of 1.5 in 1.2 % of frames; mean and variation are ours";

constexpr std::array kGames{
    Named<GameProfile>{"light", "an e-sports game; ours", {milliseconds{4}, 0.15, 0.95, 0.02, 1.6, kHostWork, 1, {}}},
    Named<GameProfile>{"rdr2", kLego, {microseconds{6600}, 0.08, 0.95, 0.012, 1.5, kHostWork, 1, {}}},
    Named<GameProfile>{"ffxvi", kLego, {microseconds{7500}, 0.08, 0.95, 0.012, 1.5, kHostWork, 1, {}}},
    Named<GameProfile>{"wukong", kLego, {microseconds{8300}, 0.08, 0.95, 0.012, 1.5, kHostWork, 1, {}}},
    Named<GameProfile>{"heavy",
                       "near the deadline of 60 frames per second; ours",
                       {milliseconds{11}, 0.12, 0.97, 0.012, 1.5, kHostWork, 1, {}}},
    Named<GameProfile>{"fable",
                       "dJay (SoCC 2015): 75 frames per second alone at the best settings; the rest is ours",
                       {microseconds{13300}, 0.25, 0.97, 0.01, 2.0, kHostWork, 1, {}}},
};

constexpr std::string_view kOrion =
    "Orion (EuroSys 2024), profiles of one training iteration on a V100; the mixture is fitted by us";

constexpr std::array kTrainings{
    Named<TrainingProfile>{"resnet50", kOrion, {946, 0.49, 3.6, 0.21, 88.7, 1.44, 1238}},         // batch 32
    Named<TrainingProfile>{"resnet101", kOrion, {1847, 0.46, 3.5, 0.18, 65.5, 1.49, 1265}},       // batch 32
    Named<TrainingProfile>{"mobilenetv2", kOrion, {890, 0.57, 3.3, 0.17, 92.9, 1.28, 2465}},      // batch 64
    Named<TrainingProfile>{"bert", kOrion, {4777, 0.55, 3.2, 0.15, 23.1, 1.47, 1081}},            // batch 8
    Named<TrainingProfile>{"transformer_xl", kOrion, {4354, 0.50, 3.3, 0.15, 18.9, 1.23, 2223}},  // batch 8
};

template <class Table>
auto find_profile(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? std::nullopt : std::optional{found->profile};
}

template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  return names;
}

}  // namespace

std::optional<GameProfile> game_profile(std::string_view name) { return find_profile(kGames, name); }
std::vector<std::string_view> game_profile_names() { return names_of(kGames); }

std::optional<TrainingProfile> training_profile(std::string_view name) { return find_profile(kTrainings, name); }
std::vector<std::string_view> training_profile_names() { return names_of(kTrainings); }

}  // namespace corun
