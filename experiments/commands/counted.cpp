#include "experiments/commands/counted.h"

#include <fmt/format.h>

namespace corun {

std::string counted(std::size_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  const bool ends_in_y = noun.ends_with('y');
  return fmt::format("{} {}{}", count, noun.substr(0, noun.size() - (ends_in_y ? 1 : 0)), ends_in_y ? "ies" : "s");
}

}  // namespace corun
