#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/base/yaml.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/hardware/hardware_options.h"
#include "experiments/commands/output_file.h"
#include "experiments/identify/report.h"
#include "experiments/question/device_file.h"
#include "sim/executor/host/mps_daemon.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

using namespace identification;

struct IdentifyCommandOptions {
  std::string device = "h200";  ///< what is known already: a built-in device or a device file
  std::string against;          ///< device whose simulation is the unknown GPU; "" = hardware
  std::string output;           ///< device file to write; "" = none
  bool overwrite = false;
  bool lists_trials = false;
  bool under_mps = false;
  bool has_no_frames = false;
  unsigned most_trials = 8;
  unsigned repetitions = 3;
  HardwareOptions hardware;
};

/// The text of a built-in device file, or of a file.
std::string device_text_of(const std::string& model_or_file) {
  std::string known;
  for (const BuiltinDevice& device : builtin_devices()) {
    if (device.model == model_or_file) return std::string(device.text);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", device.model);
  }
  if (!std::filesystem::exists(model_or_file))
    throw Error(ErrorKind::kInput, {}, fmt::format("there is no device and no file `{}`", model_or_file),
                "devices: " + known);
  return read_text_file(model_or_file);
}

DeviceSpec device_named(const std::string& model_or_file) {
  return read_device_file(device_text_of(model_or_file), model_or_file).spec;
}

std::vector<Trial> trials_for(const DeviceSpec& device, const IdentifyCommandOptions& options) {
  std::vector<Trial> trials = trial_pool(device);
  if (options.under_mps || options.has_no_frames)
    std::erase_if(trials, [](const Trial& trial) { return trial.has_frames; });
  return trials;
}

int list_trials(const CommonOptions& common, const std::vector<Trial>& trials) {
  Json json;
  json.object().field("schema_version", 1).key("trials").array();
  std::vector<std::vector<std::string>> rows = {{"trial", "what runs"}};
  for (const Trial& trial : trials) {
    rows.push_back({trial.name, trial.description});
    json.object().field("name", trial.name).field("description", trial.description).end();
  }
  put_out(common.json ? json.end().end().text() + "\n" : aligned(rows, {}, common.out.table_width()));
  return 0;
}

Observe unknown_gpu(const IdentifyCommandOptions& options, const DeviceSpec& base) {
  if (!options.against.empty()) {
    DeviceSpec device = device_named(options.against);
    if (options.under_mps) device.sharing = Sharing::kConcurrent;
    return observer(simulation_backend(), device);
  }
  executor::ExecuteOptions hardware = execute_options(options.hardware);
  hardware.renders = !options.has_no_frames;
  if (!options.under_mps) return observer(hardware_backend(hardware), base);
  hardware_backend(hardware);  // no daemon where there is no driver
  const auto daemon = std::make_shared<executor::MpsDaemon>();
  hardware.mps = daemon.get();
  DeviceSpec concurrent = base;
  concurrent.sharing = Sharing::kConcurrent;
  return [daemon, observe = observer(hardware_backend(hardware), concurrent)](const Trial& trial, std::uint64_t seed) {
    return observe(trial, seed);
  };
}

void check_output(const CommonOptions& common, const IdentifyCommandOptions& options) {
  corun::check_output(common, options.output);
  if (!options.output.empty() && options.output != kStandardOutput && !options.overwrite &&
      std::filesystem::exists(options.output))
    throw Error(ErrorKind::kInput, {options.output}, "the file exists", "name another one, or replace it with --force");
}

/// The device that was known, with what was identified in place of it.
std::vector<DeviceLine> completed(const std::string& device, const std::vector<DeviceLine>& identified) {
  std::vector<DeviceLine> lines = read_device_lines(device_text_of(device), device);
  for (const DeviceLine& line : identified) {
    std::erase_if(lines, [&](const DeviceLine& known) { return known.key == line.key; });
    lines.push_back(line);
  }
  return lines;
}

void write_device(const IdentifyCommandOptions& options, const Identification& found, const Predictions& predictions,
                  const std::string& unknown) {
  const std::vector<DeviceLine> identified = identified_lines(found, predictions);
  if (identified.empty()) return print_err("no device file: nothing was identified\n");
  const bool is_standard = options.output == kStandardOutput;
  const std::string name = is_standard ? options.device : std::filesystem::path(options.output).stem().string();
  const std::string description = fmt::format("As {}, but for what was identified on {}.", options.device, unknown);
  const std::string text = device_file_text(name, description, completed(options.device, identified));
  if (is_standard) return put_out(text);
  write_file(options.output, text, options.overwrite);
  print_err("device file: {}\n", printable(options.output));
}

int identify_command(const CommonOptions& common, const IdentifyCommandOptions& options) {
  const DeviceSpec base = device_named(options.device);
  const std::vector<Trial> trials = trials_for(base, options);
  if (options.lists_trials) return list_trials(common, trials);
  check_output(common, options);
  const Observe observe = unknown_gpu(options, base);
  const std::string unknown = options.against.empty() ? fmt::format("GPU {}", options.hardware.device.gpu)
                                                      : "the simulation of " + options.against;
  IdentifyOptions how;
  how.most_trials = options.most_trials;
  how.repetitions = options.repetitions;
  Predictions predictions(options.under_mps ? rules_of_mps(base) : rules_of_contexts(base, !options.has_no_frames),
                          base);
  print_err("{} rules, {} trials, on {}\n", predictions.rules().size(), trials.size(), printable(unknown));
  const Identification found = identify(predictions, trials, observe, how, [](const IdentifyStep& step) {
    print_err("ran {}: {}\n", step.run.trial.name, step.run.trial.description);
  });
  if (common.json) {
    print_out("{}\n", report_json(found, predictions, how, unknown));
  } else {
    const std::string report = fmt::format("\n{}", report_text(found, predictions, how, common.out.table_width()));
    if (options.output == kStandardOutput) put_err(report);
    if (options.output != kStandardOutput) put_out(report);
  }
  flush_out();
  if (!options.output.empty()) write_device(options, found, predictions, unknown);
  return found.fits ? 0 : kExitExpectation;
}

}  // namespace

void add_identify(Commands& commands) {
  auto [command, options] =
      commands.add("identify", "Identify by experiments which arbitration rule a GPU follows", &identify_command);
  command.option("--device", &options.device, "What is known already: a built-in device or a device file")
      .shows_default("h200");
  command.option("--against", &options.against, "Use the simulation of this device as the GPU");
  command.option("-o,--output", &options.output, "Device file to write; - for stdout, and the report to stderr");
  command.flag("-f,--force", &options.overwrite, "Replace an existing device file");
  command.option("--most", &options.most_trials, "Trials at most").range(1, 100).shows_default("8");
  command.option("--repetitions", &options.repetitions, "Runs of each trial").range(1, 100).shows_default("3");
  command.flag("--list-trials", &options.lists_trials, "List the trials; run nothing");
  command.flag("--mps", &options.under_mps, "Rules of MPS, not of time slices and graphics");
  command.flag("--no-frames", &options.has_no_frames, "Leave out what needs OpenGL");
  add_hardware_options(command, options.hardware);
}

}  // namespace corun
