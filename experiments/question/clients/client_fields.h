#pragma once

#include "experiments/base/fields.h"
#include "experiments/question/clients/client_choice.h"

namespace corun {

/// A resize as written: what it does not state stays as it was.
struct ResizeReading {
  std::optional<Duration> at;
  std::optional<double> share;
  std::optional<std::uint64_t> bytes;
};

/// What reading a client needs to know beside its own text.
struct ClientReading {
  ClientChoice choice;
  std::string folder;                   ///< of the experiment file
  const Node* quality_level = nullptr;  ///< as written: it means something only beside the menu
  std::vector<ResizeReading> resizes;   ///< the same, beside what the client asks for at first
};

/// The keys of a client.
const FieldTable<ClientReading>& client_fields();

/// Reads one client over the values of `defaults`. False after a diagnostic that leaves it unusable.
bool read_client(const Node& node, const ClientReading& defaults, ClientChoice& out, ScalarReader& reader);

/// Reads `{ game: ... }`, or another kind of synthetic work.
std::optional<SyntheticWork> read_synthetic(const Node& node, ScalarReader& reader);

}  // namespace corun
