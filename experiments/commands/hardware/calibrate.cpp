#include "sim/calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "experiments/base/json.h"
#include "experiments/base/yaml.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/hardware/hardware_options.h"
#include "experiments/commands/output_file.h"
#include "experiments/question/device_file.h"
#include "sim/calibration/fits/report.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

/// Measuring a GPU, or concluding from what was measured before.
struct CalibrateCommandOptions {
  GpuOptions device;
  std::string output;               ///< device file to write; "" = none
  std::string report;               ///< fit report; "" = stdout
  std::string samples;              ///< what was measured, as JSON lines; "" = not kept
  std::string from;                 ///< samples to conclude from in place of a GPU; "" = measure
  std::string base;                 ///< built-in device or device file with the values that are not measured
  std::string name;                 ///< of the device; "" = the driver's
  std::vector<std::string> groups;  ///< what to measure; empty = all
  bool overwrite = false;
  std::string probe;    ///< "" = corun-probe in the folder of this program
  std::string control;  ///< of MPS; "" = nvidia-cuda-mps-control
};

using calibration::Calibration;
using calibration::Finding;
using calibration::Samples;

volatile std::sig_atomic_t g_signal = 0;

void interrupt(int signal) {
  g_signal = signal;
  std::signal(signal, SIG_DFL);
}

void check_groups(const std::vector<std::string>& wanted) {
  const std::vector<std::string> known = calibration::calibration_groups();
  for (const std::string& group : wanted)
    if (std::ranges::find(known, group) == known.end())
      throw Error(ErrorKind::kInput, {}, fmt::format("--only: there is no group `{}`", group),
                  fmt::format("groups: {}", fmt::join(known, ", ")));
}

std::string read_samples_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::kInput, {path}, "cannot be read", "samples are written by --samples FILE");
  return {std::istreambuf_iterator<char>(file), {}};
}

void show_progress(const Terminal& terminal, const calibration::Trial& trial, std::size_t number, std::size_t count,
                   Duration left) {
  const std::string line = fmt::format("{}/{}  {}  about {:.0f} s left", number, count, trial.name, to_seconds(left));
  print_err("{}{}{}", terminal.is_interactive ? "\r\033[K" : "", line,
            terminal.is_interactive && number < count ? "" : "\n");
  std::fflush(stderr);
}

Samples measured(const CommonOptions& common, const CalibrateCommandOptions& options) {
  calibration::CalibrateOptions measuring;
  measuring.probe = options.probe.empty() ? beside_this_program("corun-probe") : options.probe;
  measuring.library = options.device.driver;
  measuring.control = options.control;
  measuring.device = options.device.gpu;
  measuring.groups = options.groups;
  measuring.is_interrupted = [] { return g_signal != 0; };
  measuring.on_trial = [&](const calibration::Trial& trial, std::size_t number, std::size_t count, Duration left) {
    show_progress(common.err, trial, number, count, left);
  };
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  return calibration::measure(measuring);
}

std::string samples_text(const Samples& samples) {
  std::string text;
  for (const calibration::Sample& sample : samples) text += calibration::to_json_line(sample) + "\n";
  return text;
}

/// The lines of a built-in device or of a file.
std::vector<DeviceLine> lines_of(const std::string& model_or_file) {
  if (model_or_file.empty()) return {};
  for (const BuiltinDevice& device : builtin_devices())
    if (device.model == model_or_file) return read_device_lines(device.text, model_or_file + ".yaml");
  return read_device_lines(read_text_file(model_or_file), model_or_file);
}

std::vector<DeviceLine> merged(std::vector<DeviceLine> lines, const std::vector<Finding>& findings,
                               const std::string& base) {
  for (DeviceLine& line : lines) line.source = fmt::format("{} (from {}, not measured)", line.source, base);
  for (const Finding& finding : findings) {
    if (finding.key.empty()) continue;
    std::erase_if(lines, [&](const DeviceLine& line) { return line.key == finding.key; });
    lines.push_back({finding.key, value_text(finding), (finding.is_told ? "" : "measured: ") + finding.method,
                     spread_text(finding)});
  }
  return lines;
}

void print_json(const Calibration& calibration, const std::vector<DeviceLine>& lines) {
  Json json;
  json.object().field("schema_version", 1).field("device", calibration.device.name).key("values").array();
  for (const DeviceLine& line : lines)
    json.object()
        .field("key", line.key)
        .field("value", line.value)
        .field("spread", line.spread)
        .field("source", line.source)
        .end();
  json.end().key("findings").array();
  for (const Finding& finding : calibration.findings) {
    json.object().field("title", finding.title).field("key", finding.key).field("value", value_text(finding));
    json.field("spread", spread_text(finding)).field("samples", finding.value.count).field("method", finding.method);
    json.key("models").array();
    for (const calibration::ModelError& error : model_errors(finding.comparisons))
      json.object().field("model", error.model).field("mean_error", error.mean).field("worst_error", error.worst).end();
    json.end().end();
  }
  json.end().key("failures").array();
  for (const std::string& failure : calibration.failures) json.value(failure);
  print_out("{}\n", json.end().end().text());
}

void check_outputs(const CommonOptions& common, const CalibrateCommandOptions& options) {
  check_output(common, options.output);
  for (const std::string& path : {options.output, options.report, options.samples})
    if (!path.empty() && path != kStandardOutput && !options.overwrite && std::filesystem::exists(path))
      throw Error(ErrorKind::kInput, {path}, "it exists", "give another name, or --force to replace it");
}

int calibrate_command(const CommonOptions& common, const CalibrateCommandOptions& options) {
  check_groups(options.groups);
  check_outputs(common, options);
  const std::vector<DeviceLine> base = lines_of(options.base);
  const Samples samples = options.from.empty()
                              ? measured(common, options)
                              : calibration::samples_from_json_lines(read_samples_file(options.from), options.from);
  if (!options.samples.empty()) write_file(options.samples, samples_text(samples), options.overwrite);
  const Calibration calibration = calibration::conclude(samples);
  const std::vector<DeviceLine> lines = merged(base, calibration.findings, options.base);
  const std::string name = options.name.empty() ? calibration.device.name : options.name;
  const std::string text =
      device_file_text(name, fmt::format("Measured on one {} by simcli calibrate.", calibration.device.name), lines);
  const bool is_standard = options.output == kStandardOutput;
  if (!options.output.empty()) {
    read_device_file(text, options.output);
    if (is_standard) put_out(text);
    if (!is_standard) write_file(options.output, text, options.overwrite);
  }
  const std::string report = fit_report(calibration);
  if (!options.report.empty()) write_file(options.report, report, options.overwrite);
  if (common.json) {
    print_json(calibration, lines);
  } else if (options.report.empty()) {
    if (is_standard) put_err(report);
    if (!is_standard) put_out(report);
  }
  for (const std::string& failure : calibration.failures) print_err("not measured: {}\n", printable(failure));
  if (!options.output.empty() && !is_standard) print_err("device file: {}\n", printable(options.output));
  if (g_signal != 0) return kExitSignal + g_signal;
  return calibration.has_gone_wrong ? kExitSomeFailed : 0;
}

}  // namespace

void add_calibrate(Commands& commands) {
  auto [command, options] = commands.add("calibrate", "Measure a GPU and write its device file", &calibrate_command);
  add_gpu_options(command, options.device);
  command.option("-o,--output", &options.output, "Device file to write; - for stdout, and the report to stderr");
  command.option("--report", &options.report, "Fit report to write (Markdown); stdout if not given");
  command.option("--samples", &options.samples, "File for what was measured (JSON lines)");
  command.option("--from", &options.from, "Fit the values to such a file; measure nothing");
  command.option("--base", &options.base, "Built-in device or device file with the values that are not measured");
  command.option("--name", &options.name, "Name of the device; the driver's if not given");
  command.option("--only", &options.groups, "Groups to measure: slice,copy,...").comma_separated();
  command.flag("-f,--force", &options.overwrite, "Replace existing files");
  command.option("--probe", &options.probe, "Program of a probe's process; corun-probe if not given");
  command.option("--mps-control", &options.control, "Program of the MPS daemon; nvidia-cuda-mps-control if not given");
}

}  // namespace corun
