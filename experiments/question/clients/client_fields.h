#pragma once

#include "experiments/base/canonical_lines.h"
#include "experiments/base/fields.h"
#include "experiments/question/clients/client_choice.h"

namespace corun {

/// A resize as written: what it does not state stays as it was.
struct ResizeReading {
  std::optional<Duration> at;
  std::optional<double> share;
  std::optional<std::uint64_t> bytes;
};

/// What reading a client needs to know besides its own text.
struct ClientReading {
  ClientChoice choice;
  std::string folder;                   ///< of the experiment file
  const Node* quality_level = nullptr;  ///< as written: it means something only with the menu
  std::vector<ResizeReading> resizes;   ///< the same, with what the client asks for at first
};

/// One key of a client: how it is read, and how it stands in the canonical form that run ids are hashes of.
///
/// A key that is added later writes nothing where it has its default, so that ids of experiments without it stay.
struct ClientField : Field<ClientReading> {
  /// Empty for keys that decide no result, and for those that another key's row writes.
  std::function<void(const ClientChoice&, CanonicalLines&)> write;
};

/// The keys of a client. Values that share a canonical line stand there in the order of the rows.
const std::vector<ClientField>& client_fields();

/// Reads one client over the values of `defaults`. False after a diagnostic that leaves it unusable.
bool read_client(const Node& node, const ClientReading& defaults, ClientChoice& out, ScalarReader& reader);

/// Reads `{ game: ... }`, or another kind of synthetic work.
std::optional<SyntheticWork> read_synthetic(const Node& node, ScalarReader& reader);

}  // namespace corun
