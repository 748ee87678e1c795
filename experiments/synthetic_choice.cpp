#include <array>

#include "experiments/client_choice.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

Field<GameProfile> game_duration(std::string_view key, Duration GameProfile::*member) {
  return {key, "duration", [=](const Node& node, GameProfile& out, ScalarReader& read) {
            if (const auto value = read.duration(node, Duration(0), Duration(10s), "ms")) out.*member = *value;
          }};
}

Field<GameProfile> game_number(std::string_view key, double GameProfile::*member, double maximum) {
  return {key, "number", [=](const Node& node, GameProfile& out, ScalarReader& read) {
            if (const auto value = read.number(node, 0, maximum)) out.*member = *value;
          }};
}

const FieldTable<GameProfile>& game_fields() {
  static const FieldTable<GameProfile> table = {
      game_duration("gpu", &GameProfile::frame_gpu_mean),
      game_number("cv", &GameProfile::cv, 10),
      game_number("correlation", &GameProfile::correlation, 0.999999),
      game_number("spike_probability", &GameProfile::spike_probability, 1),
      game_number("spike_factor", &GameProfile::spike_factor, 100),
      game_duration("cpu", &GameProfile::cpu_per_frame),
      {"visits", "whole number",
       [](const Node& node, GameProfile& out, ScalarReader& read) {
         if (const auto value = read.integer(node, 1, 64)) out.visits = static_cast<std::uint32_t>(*value);
       }},
      game_duration("later_visit", &GameProfile::later_visit),
  };
  return table;
}

const FieldTable<RequestProfile>& request_fields() {
  static constexpr std::array<std::string_view, 2> kArrivals = {"poisson", "periodic"};
  static constexpr std::array<std::string_view, 3> kServices = {"exponential", "constant", "lognormal"};
  static const FieldTable<RequestProfile> table = {
      {"arrivals", "choice",
       [](const Node& node, RequestProfile& out, ScalarReader& read) {
         if (const auto index = read.choice(node, kArrivals))
           out.arrivals = static_cast<RequestProfile::Arrivals>(*index);
       }},
      {"rate", "rate",
       [](const Node& node, RequestProfile& out, ScalarReader& read) {
         if (const auto value = read.rate(node)) out.rate_per_s = *value;
       }},
      {"service", "choice",
       [](const Node& node, RequestProfile& out, ScalarReader& read) {
         if (const auto index = read.choice(node, kServices))
           out.service = static_cast<RequestProfile::Service>(*index);
       }},
      {"mean", "duration",
       [](const Node& node, RequestProfile& out, ScalarReader& read) {
         if (const auto value = read.duration(node, Duration(1ns), Duration(60s), "ms")) out.service_mean = *value;
       }},
      {"cv", "number",
       [](const Node& node, RequestProfile& out, ScalarReader& read) {
         if (const auto value = read.number(node, 0, 100)) out.service_cv = *value;
       }},
  };
  return table;
}

/// A profile by name; nullopt after a diagnostic with the names there are.
template <class Find>
auto named(const Node& node, std::string_view what, Find find, const std::vector<std::string_view>& names,
           ScalarReader& read) -> decltype(find(std::string_view{})) {
  const auto name = read.text(node);
  if (!name) return std::nullopt;
  auto profile = find(*name);
  if (!profile) read.unknown(what, *name, node.where, names, "E0303");
  return profile;
}

std::optional<SyntheticWork> read_game(const Node& node, ScalarReader& read) {
  if (node.is_scalar()) {
    const auto profile = named(node, "game", game_profile, game_profile_names(), read);
    if (!profile) return std::nullopt;
    return SyntheticWork{node.text, *profile};
  }
  GameProfile profile;
  if (!read.expect(node, Node::Kind::kMapping, "{ gpu: 2.2ms, visits: 2 }")) return std::nullopt;
  read_fields(node, game_fields(), "key", profile, read);
  if (profile.frame_gpu_mean <= Duration::zero()) read.wrong(node, "a game needs `gpu`, the mean GPU time of a frame");
  return SyntheticWork{"", profile};
}

std::optional<SyntheticWork> read_training(const Node& node, ScalarReader& read) {
  const auto profile = named(node, "training job", training_profile, training_profile_names(), read);
  if (!profile) return std::nullopt;
  return SyntheticWork{node.text, *profile};
}

std::optional<SyntheticWork> read_requests(const Node& node, ScalarReader& read) {
  RequestProfile profile;
  if (!read.expect(node, Node::Kind::kMapping, "{ rate: 5/s, service: exponential, mean: 3ms }")) return std::nullopt;
  read_fields(node, request_fields(), "key", profile, read);
  if (node.find("rate") == nullptr || node.find("mean") == nullptr)
    read.wrong(node, "requests need a `rate` and a `mean` service time");
  return SyntheticWork{"", profile};
}

}  // namespace

std::optional<SyntheticWork> read_synthetic(const Node& node, ScalarReader& reader) {
  if (!reader.expect(node, Node::Kind::kMapping, "{ game: rdr2 }")) return std::nullopt;
  constexpr std::array<std::string_view, 3> kKinds = {"game", "training", "requests"};
  if (node.entries.size() != 1) {
    reader.wrong(node, "synthetic work is one of game, training and requests", "for example `{ game: rdr2 }`");
    return std::nullopt;
  }
  const Node::Entry& entry = node.entries[0];
  if (entry.key == "game") return read_game(entry.value, reader);
  if (entry.key == "training") return read_training(entry.value, reader);
  if (entry.key == "requests") return read_requests(entry.value, reader);
  reader.unknown("synthetic work", entry.key, entry.where, kKinds);
  return std::nullopt;
}

}  // namespace corun
