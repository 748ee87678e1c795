#include "traces/base/command_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/base/units.h"

namespace corun {

std::string unknown_command(std::string_view word, const std::vector<std::string>& commands) {
  const bool is_command = std::ranges::find(commands, word) != commands.end();
  if (is_command || word.starts_with('-')) return "";
  const std::string nearest = nearest_name(word, commands);
  return fmt::format("There is no command `{}`{}", word, nearest.empty() ? "" : "; did you mean `" + nearest + "`?");
}

}  // namespace corun
