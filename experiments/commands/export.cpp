#include <fmt/format.h>

#include "experiments/commands/commands.h"
#include "experiments/json.h"
#include "traces/base/write_file.h"
#include "traces/exporters/perfetto.h"
#include "traces/reader.h"

namespace corun {

int export_command(const CommonOptions& common, const ExportOptions& options) {
  const std::string bytes = encode_perfetto(load_timeline(options.file));
  write_file(options.output, bytes, options.overwrite);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("output", options.output).field("bytes", bytes.size()).end();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("written to   {} ({} bytes); open it at https://ui.perfetto.dev\n", printable(options.output),
               bytes.size());
  }
  return 0;
}

}  // namespace corun
