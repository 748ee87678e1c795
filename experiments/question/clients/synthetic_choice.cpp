#include "experiments/question/clients/synthetic_choice.h"

#include <array>

namespace corun {

namespace {

using namespace std::chrono_literals;

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
      duration_field("mean", &RequestProfile::service_mean, Duration(1ns), Duration(60s)),
      number_field("cv", &RequestProfile::service_cv, 0, 100),
      count_field("kernels", &RequestProfile::kernels, 1, 10'000),
  };
  return table;
}

const FieldTable<TrainingProfile>& training_fields() {
  static const FieldTable<TrainingProfile> table = {
      {"profile", "name", [](const Node&, TrainingProfile&, ScalarReader&) {}},
      duration_field("launch_gap", &TrainingProfile::launch_gap, Duration(0), Duration(1s), "us"),
      number_field("straggler_probability", &TrainingProfile::straggler_probability, 0, 1),
      number_field("straggler_factor", &TrainingProfile::straggler_factor, 1, 1e6),
  };
  return table;
}

/// A profile's name, or a mapping that changes something in a profile.
std::optional<SyntheticWork> read_training(const Node& node, ScalarReader& read) {
  const bool is_mapping = node.is_mapping();
  const Node* name = is_mapping ? node.find("profile") : &node;
  if (name == nullptr) {
    read.wrong(node, "a training job needs a `profile`", "for example `{ profile: resnet50, launch_gap: 5us }`");
    return std::nullopt;
  }
  auto profile = named_profile(*name, "training job", training_profile, training_profile_names(), read);
  if (!profile) return std::nullopt;
  if (is_mapping) read_fields(node, training_fields(), "key", *profile, read);
  return SyntheticWork{is_mapping ? "" : node.text, *profile};
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
  constexpr std::array<std::string_view, 6> kKinds = {"game", "training", "requests", "program", "kernels", "engine"};
  if (node.entries.size() != 1) {
    reader.wrong(node, fmt::format("synthetic work is one of {}", fmt::join(kKinds, ", ")),
                 "for example `{ game: rdr2 }`");
    return std::nullopt;
  }
  const Node::Entry& entry = node.entries[0];
  if (entry.key == "game") return read_game(entry.value, reader);
  if (entry.key == "training") return read_training(entry.value, reader);
  if (entry.key == "requests") return read_requests(entry.value, reader);
  if (entry.key == "program") return read_program(entry.value, reader);
  if (entry.key == "kernels") return read_kernels(entry.value, reader);
  if (entry.key == "engine") return read_engine(entry.value, reader);
  reader.unknown("synthetic work", entry.key, entry.where, kKinds);
  return std::nullopt;
}

}  // namespace corun
