#pragma once

#include <string_view>
#include <vector>

#include "experiments/question/clients/client_fields.h"

namespace corun {

/// The grammar of synthetic work, shared by its kinds. Internal to reading it.

/// A profile by name; nullopt after a diagnostic with the names there are.
template <class Find>
auto named_profile(const Node& node, std::string_view what, Find find, const std::vector<std::string_view>& names,
                   ScalarReader& read) -> decltype(find(std::string_view{})) {
  const auto name = read.text(node);
  if (!name) return std::nullopt;
  auto profile = find(*name);
  if (!profile) read.unknown(what, *name, node.where, names, "E0303");
  return profile;
}

template <class Profile>
Field<Profile> duration_field(std::string_view key, Duration Profile::*member, Duration minimum, Duration maximum,
                              std::string_view usual_unit = "ms") {
  return {key, "duration", [=](const Node& node, Profile& out, ScalarReader& read) {
            if (const auto value = read.duration(node, minimum, maximum, usual_unit)) out.*member = *value;
          }};
}

template <class Profile>
Field<Profile> number_field(std::string_view key, double Profile::*member, double minimum, double maximum) {
  return {key, "number", [=](const Node& node, Profile& out, ScalarReader& read) {
            if (const auto value = read.number(node, minimum, maximum)) out.*member = *value;
          }};
}

template <class Profile>
Field<Profile> count_field(std::string_view key, std::uint32_t Profile::*member, std::uint64_t minimum,
                           std::uint64_t maximum) {
  return {key, "whole number", [=](const Node& node, Profile& out, ScalarReader& read) {
            if (const auto value = read.integer(node, minimum, maximum))
              out.*member = static_cast<std::uint32_t>(*value);
          }};
}

/// Each reads what stands behind its key; nullopt after a diagnostic.
std::optional<SyntheticWork> read_game(const Node& node, ScalarReader& read);
std::optional<SyntheticWork> read_program(const Node& node, ScalarReader& read);
std::optional<SyntheticWork> read_kernels(const Node& node, ScalarReader& read);
std::optional<SyntheticWork> read_engine(const Node& node, ScalarReader& read);

}  // namespace corun
