#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/base/diagnostic.h"
#include "sim/serving/server.h"

namespace corun {

/// A file that the experiment names.
struct CapturedFile {
  std::string path;  ///< with the experiment's folder put before a relative one
  SourceLocation where;
};

/// `server:` of a client, as written: what its engine is configured with, and which requests come.
struct ServerChoice {
  SourceLocation where;
  BatchLimits limits;
  bool pads = false;
  double prefill_share = 0;  ///< of its SMs on which it reads prompts while it decodes on the rest; 0 = takes turns
  std::uint32_t concurrency = 0;  ///< 0 = requests arrive as drawn or recorded
  CapturedFile requests;          ///< a file of them; its path is "" where they are drawn
  RequestLoad load;               ///< those that are drawn
  CapturedFile step_times;        ///< of the engine alone and untraced; its path is "" where they are not stated
  ServiceLevel level;
};

}  // namespace corun
