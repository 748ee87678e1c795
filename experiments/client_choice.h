#pragma once

#include "experiments/experiment.h"
#include "experiments/fields.h"

namespace corun {

/// What reading a client needs to know beside its own text.
struct ClientReading {
  ClientChoice choice;
  std::string folder;                   ///< of the experiment file
  const Node* quality_level = nullptr;  ///< as written: it means something only beside the menu
};

/// The keys of a client.
const FieldTable<ClientReading>& client_fields();

/// Reads one client over the values of `defaults`. False after a diagnostic that leaves it unusable.
bool read_client(const Node& node, const ClientReading& defaults, ClientChoice& out, ScalarReader& reader);

/// Reads `{ game: ... }`, or another kind of synthetic work.
std::optional<SyntheticWork> read_synthetic(const Node& node, ScalarReader& reader);

/// dJay's presets: HI, ME, LO.
std::vector<QualitySetting> default_quality_menu();

}  // namespace corun
