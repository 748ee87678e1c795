#pragma once

#include "experiments/base/fields.h"
#include "experiments/question/clients/client_choice.h"

namespace corun {

/// Reads `default`, `knobs`, a list of settings, or `{ knobs: [...], most: 32 }` into the client's menu and knobs.
void read_quality(const Node& node, ClientChoice& out, ScalarReader& reader);

/// Reads the level where a client starts, which is named or counted from 0 = best, once its menu is known. `node` may
/// be null: nothing is said.
void settle_quality_level(const Node* node, ClientChoice& out, ScalarReader& reader);

/// dJay's presets: HI, ME, LO.
std::vector<QualityLevel> default_quality_menu();

/// Settings that are kept of the combinations of knobs where the experiment does not say how many.
inline constexpr std::size_t kUsualMenuSize = 32;

}  // namespace corun
