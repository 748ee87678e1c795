#include "traces/base/instants.h"

namespace corun {

std::int64_t Instants::upper_behind(const Upper* upper, std::size_t index) {
  while (upper->behind <= index) ++upper;
  return upper->ns;
}

}  // namespace corun
