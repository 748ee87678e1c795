#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracer/record/session.h"

namespace corun::record {

/// What is reported about a capture that was written.
struct Summary {
  const Session& session;
  std::string output;                      ///< "": nothing was recorded, and none is written
  std::uint64_t bytes = 0;                 ///< of the capture file
  std::optional<double> seconds;           ///< the program ran so long; not known to `merge`
  std::optional<double> untraced_seconds;  ///< and so long in the untraced pass
  std::vector<std::string> notes;          ///< of the recorder, which has printed them already; JSON has them too
};

/// Several lines for people.
std::string summary_text(const Summary& summary);
/// One line with one JSON object; `output` is null where there is none.
std::string summary_json(const Summary& summary);
/// Why the parts are kept with a capture, and what to do with them.
std::string kept_text(const PartsFolder& folder);

}  // namespace corun::record
