#include "traces/base/instants.h"

namespace corun {

void Instants::begin(std::int64_t upper_ns) {
  if (uppers_.empty() || uppers_.back().ns != upper_ns) {
    if (!uppers_.empty()) uppers_.back().behind = lower_.size();
    uppers_.push_back({upper_ns});
  }
  if (lower_.size() % kBlock == 0) upper_of_block_.push_back(static_cast<std::uint32_t>(uppers_.size() - 1));
}

std::int64_t Instants::upper_behind(const Upper* upper, std::size_t index) {
  while (upper->behind <= index) ++upper;
  return upper->ns;
}

}  // namespace corun
