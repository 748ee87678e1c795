#include "experiments/base/canonical_lines.h"

#include <algorithm>

namespace corun {

void CanonicalLines::add_text(std::string_view prefix, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines_.insert(fmt::format("{}{}", prefix, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string CanonicalLines::text() const {
  std::set<std::string> all = lines_;
  for (const auto& [key, values] : joined_) all.insert(fmt::format("{}={}", key, values));
  return fmt::format("{}\n", fmt::join(all, "\n"));
}

}  // namespace corun
