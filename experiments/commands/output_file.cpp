#include "experiments/commands/output_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/json.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

void write_output(const CommonOptions& common, const std::string& path, std::string_view bytes, bool overwrite,
                  std::string_view advice) {
  if (path != kStandardOutput) {
    write_file(path, bytes, overwrite);
    return say_written(common, path, advice);
  }
  if (common.json)
    throw Error(ErrorKind::kInput, {path}, "standard output cannot be both the file and the JSON about it",
                "leave --json out, or name a file");
  put_out(bytes);
}

void say_written(const CommonOptions& common, const std::string& path, std::string_view advice) {
  const auto bytes = std::filesystem::file_size(path);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("output", path).field("bytes", bytes).end();
    print_out("{}\n", json.text());
  } else {
    print_out("written to   {} ({} bytes){}\n", printable(path), bytes, advice);
  }
}

}  // namespace corun
