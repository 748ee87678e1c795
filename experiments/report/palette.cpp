#include "experiments/report/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace corun {

namespace {

constexpr std::array<Colour, 9> kColours = {{{"#0072b2", "#4aa8e0"},
                                             {"#d55e00", "#ff8a4c"},
                                             {"#00855f", "#2fc49a"},
                                             {"#b0528a", "#e293c2"},
                                             {"#a87400", "#e5b84a"},
                                             {"#2a93c9", "#8fd3f4"},
                                             {"#6b4fa0", "#b39ddb"},
                                             {"#5c6670", "#aab4be"},
                                             {"#1b1f24", "#e8ebef"}}};

constexpr std::array<std::size_t, 6> kClients = {0, 4, 2, 3, 5, 1};

// Grey and black, the last two, are for what is compared with: no policy, and one client alone.
constexpr std::size_t kHues = 7, kGrey = 7, kBlack = 8;

constexpr std::pair<std::string_view, std::size_t> kMainPolicies[] = {
    {"pilotfish", 0},          {"nvshare", 1}, {"gaiagpu", 2},         {"djay", 3},          {"mps_percentage", 4},
    {"pilotfish_absolute", 5}, {"mig", 6},     {"passthrough", kGrey}, {"exclusive", kBlack}};

bool is_in_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

/// The main policy whose name `name` is, or begins with; nullptr: none.
const std::pair<std::string_view, std::size_t>* main_policy(std::string_view name) {
  const auto is_its = [&](const auto& policy) {
    return name.starts_with(policy.first) &&
           (name.size() == policy.first.size() || !is_in_word(name[policy.first.size()]));
  };
  const auto* found = std::ranges::find_if(kMainPolicies, is_its);
  return found == std::end(kMainPolicies) ? nullptr : found;
}

std::size_t preferred(std::string_view name) {
  if (const auto* policy = main_policy(name)) return policy->second;
  return std::accumulate(name.begin(), name.end(), std::size_t{0},
                         [](std::size_t sum, char letter) { return 31 * sum + static_cast<unsigned char>(letter); }) %
         kHues;
}

bool is_main(std::string_view name) {
  const auto* policy = main_policy(name);
  return policy != nullptr && policy->first == name;
}

std::size_t take(std::size_t wanted, std::set<std::size_t>& taken) {
  if (taken.insert(wanted).second) return wanted;
  for (std::size_t round = 0;; round += kColours.size())
    for (std::size_t step = 0; step < kHues; ++step)
      if (const std::size_t look = round + (wanted + step) % kHues; taken.insert(look).second) return look;
}

}  // namespace

std::span<const Colour> colours() { return kColours; }

std::span<const std::size_t> client_looks() { return kClients; }

std::vector<std::size_t> looks(const std::vector<std::string>& names) {
  std::set<std::size_t> taken;
  std::vector<std::size_t> found(names.size());
  for (const bool is_turn_of_main : {true, false})
    for (std::size_t i = 0; i < names.size(); ++i)
      if (is_main(names[i]) == is_turn_of_main) found[i] = take(preferred(names[i]), taken);
  return found;
}

std::string colour_variables() {
  std::string light, dark;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    light += fmt::format(" --c{}: {};", i, kColours[i].light);
    dark += fmt::format(" --c{}: {};", i, kColours[i].dark);
  }
  return fmt::format(":root {{{} }}\n:root[data-theme=\"dark\"] {{{} }}\n", light, dark);
}

}  // namespace corun
