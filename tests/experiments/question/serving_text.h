#pragma once

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace corun::testing {

/// The path of a new file with this text.
inline std::string written(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}

/// An experiment of a server next to a training, both made up. `more` are further keys of the server.
inline std::string served_text(const std::string& rate, const std::string& more) {
  return fmt::format(
      "name: served\ndevice: h200\nhorizon: 3s\npolicies: [passthrough]\nclients:\n  - name: chat\n"
      "    role: interactive\n    priority: 1\n    synthetic: {{ engine: {{ prefill: {{ per_token: 10us }}, "
      "decode: {{ base: 2ms }} }} }}\n"
      "    server: {{ requests: {{ rate: {}, prompt: 200, output: 20 }}, max_batch: 8, kv_tokens: 10000, {} }}\n"
      "  - {{ name: train, synthetic: {{ training: resnet50 }} }}\n",
      rate, more);
}

}  // namespace corun::testing
