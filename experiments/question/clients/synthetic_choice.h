#pragma once

#include <string_view>
#include <vector>

#include "experiments/question/clients/client_fields.h"
#include "experiments/question/clients/value_fields.h"

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

/// Each reads what stands behind its key; nullopt after a diagnostic.
std::optional<SyntheticWork> read_game(const Node& node, ScalarReader& read);
std::optional<SyntheticWork> read_program(const Node& node, ScalarReader& read);
std::optional<SyntheticWork> read_kernels(const Node& node, ScalarReader& read);
std::optional<SyntheticWork> read_engine(const Node& node, ScalarReader& read);

}  // namespace corun
