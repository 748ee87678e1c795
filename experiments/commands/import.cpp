#include <fmt/format.h>

#include <filesystem>

#include "experiments/commands/commands.h"
#include "experiments/commands/output_file.h"
#include "experiments/commands/trace_report.h"
#include "traces/base/streams.h"
#include "traces/native/native.h"
#include "traces/reader.h"

namespace corun {

namespace {

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< "" = only look
  std::string format = "auto";
  bool overwrite = false;
};

/// With one input the output is that file; with several it is a folder, one file each.
std::string output_of(const ImportOptions& options, const std::string& input) {
  if (options.inputs.size() == 1) return options.output;
  std::filesystem::path name = std::filesystem::path(input).filename();
  for (const char* ending : {".gz", ".zst"})
    if (name.extension() == ending) name = name.stem();
  return (std::filesystem::path(options.output) / name.replace_extension(".corun")).string();
}

void check_outputs(const ImportOptions& options) {
  if (options.inputs.size() < 2 || options.output.empty()) return;
  if (options.output == kStandardOutput)
    throw Error(ErrorKind::kInput, {options.output}, "several traces cannot be one file", "name a folder for them");
  if (!std::filesystem::is_directory(options.output))
    throw Error(ErrorKind::kInput, {options.output},
                "several traces need a folder to go to, and there is none of this name", "mkdir " + options.output);
}

Timeline read(const ImportOptions& options, const std::string& input) {
  return load_timeline(input, options.format == "auto" ? "" : options.format);
}

int import_command(const CommonOptions& common, const ImportOptions& options) {
  check_outputs(options);
  if (options.output == kStandardOutput)
    return write_output(common, options.output, encode_native(read(options, options.inputs.front())), false, ""), 0;
  Json json;
  const bool is_list = options.inputs.size() > 1;
  if (is_list) json.array();
  for (const std::string& input : options.inputs) {
    const Timeline timeline = read(options, input);
    const std::string output = options.output.empty() ? "" : output_of(options, input);
    if (!output.empty()) write_native(timeline, output, options.overwrite);
    if (common.json) {
      add_trace_report(json, timeline, output);
    } else {
      put_out(trace_report(timeline, input));
      if (!output.empty())
        print_out("written to   {} ({} bytes)\n", printable(output), std::filesystem::file_size(output));
    }
  }
  if (is_list) json.end();
  if (common.json) print_out("{}\n", json.text());
  return 0;
}

}  // namespace

void add_import(Commands& commands) {
  auto [command, options] = commands.add("import", "Read captures of any known format; write .corun", &import_command);
  command.option("IN", &options.inputs, "Captures").required();
  command.option("-o,--output", &options.output, "Where to write; a folder for several captures; - for stdout");
  command.option("--from", &options.format, "Format of the captures").shows_default("auto");
  command.flag("-f,--force", &options.overwrite, "Replace an existing file");
}

}  // namespace corun
