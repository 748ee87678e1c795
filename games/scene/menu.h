#pragma once

#include "games/scene/options.h"

namespace scene {

/// Prints the levels and the work of each at the size and load wanted. Needs no GPU.
void list_levels(const Options& options);

/// Renders the same frames at every level, for about a second, and prints the `quality:` block of an experiment: GPU
/// time relative to the best level, and similarity of the pictures to its.
void print_menu(const Options& options);

}  // namespace scene
