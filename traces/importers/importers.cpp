#include "traces/importers/importers.h"

#include <fmt/ranges.h>

#include "traces/base/error.h"
#include "traces/native/native.h"

namespace corun {
namespace {

std::vector<std::unique_ptr<TraceImporter>> make_importers() {
  std::vector<std::unique_ptr<TraceImporter>> list;
  list.push_back(make_native_importer());
  list.push_back(make_kineto_importer());
  list.push_back(make_xla_importer());
  list.push_back(make_nsys_importer());
  list.push_back(make_presentmon_importer());
  list.push_back(make_capframex_importer());
  list.push_back(make_mangohud_importer());
  list.push_back(make_afterburner_importer());
  list.push_back(make_orion_importer());
  list.push_back(make_part_importer());
  return list;
}

std::string known_formats() {
  std::vector<std::string_view> names;
  for (const auto& importer : importers()) names.push_back(importer->name());
  return fmt::format("{}", fmt::join(names, ", "));
}

const TraceImporter* importer_named(std::string_view name) {
  for (const auto& importer : importers()) {
    if (importer->name() == name) return importer.get();
  }
  throw Error(ErrorKind::kInput,
              fmt::format("no trace format is called '{}', expected auto or one of {}", name, known_formats()));
}

const TraceImporter* surest_importer(const SourceFile& source) {
  const TraceImporter* surest = nullptr;
  int best = 0;
  for (const auto& importer : importers()) {
    if (const int confidence = importer->sniff(source); confidence > best) {
      best = confidence;
      surest = importer.get();
    }
  }
  return surest;
}

/// Files of profilers that another file of the same profile says as well, in a form that is read.
void refuse_report(const std::string& path) {
  const std::string stem = path.substr(0, path.rfind('.'));
  const auto refuse = [&](const char* what, std::string help) {
    throw Error(ErrorKind::kInput, SourceLocation{path}, what, std::move(help));
  };
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
    refuse("a report of Nsight Systems, in a format of its own, expected its export to SQLite",
           fmt::format("`nsys export --type sqlite --output {0}.sqlite {1}` makes {0}.sqlite", stem, path));
  if (path.ends_with(".ncu-rep"))
    refuse("a report of Nsight Compute, which runs each kernel by itself, expected a capture of the program's time",
           "record the program: `simtrace record -o x.corun -- COMMAND`, or `nsys profile`");
  if (path.ends_with(".xplane.pb"))
    refuse("a profile of XLA in its own form, expected the JSON of the same profile",
           "JAX and TensorFlow write `*.trace.json.gz` beside it");
}

/// Content that people bring and no reader is for: what it is, and what to bring in its place.
void refuse_known_content(const SourceFile& source) {
  struct Known {
    std::string_view words;
    const char *what, *help;
  };
  constexpr std::size_t kTarMagic = 257;
  constexpr Known kKnown[] = {
      {"\"rocprofiler-sdk-tool\"", "a profile of rocprofv3, for which there is no reader",
       "PyTorch's profiler records AMD devices, too, and its traces are read"},
      {"-chakra", "an execution trace of PyTorch or Chakra, which has no times of a device",
       "bring the trace of PyTorch's profiler that was recorded with it"},
  };
  const std::string_view bytes = source.bytes;
  if (bytes.size() > kTarMagic && bytes.substr(kTarMagic).starts_with("ustar"))
    throw Error(ErrorKind::kInput, SourceLocation{source.path}, "an archive of files, expected a capture",
                "unpack it, and bring the captures in it");
  for (const Known& known : kKnown)
    if (bytes.substr(0, kSniffedBytes).find(known.words) != std::string_view::npos)
      throw Error(ErrorKind::kInput, SourceLocation{source.path}, known.what, known.help);
}

const TraceImporter& importer_of(const SourceFile& source) {
  refuse_report(source.path);
  if (source.bytes.empty()) throw Error(ErrorKind::kInput, SourceLocation{source.path}, "the file is empty");
  const TraceImporter* importer = surest_importer(source);
  if (importer == nullptr) {
    refuse_known_content(source);
    throw Error(ErrorKind::kInput, SourceLocation{source.path},
                fmt::format("the content is of no known trace format, expected one of {}", known_formats()),
                "if it is one of these, `simcli import FILE --from NAME` says what its reader misses");
  }
  return *importer;
}

/// Reads the file. What holds nothing has not been understood; a capture of our own may be empty.
Timeline read_with(const TraceImporter& importer, const SourceFile& source) {
  Timeline timeline = importer.read(source);
  const bool is_own =
      importer.name() == make_native_importer()->name() || importer.name() == make_part_importer()->name();
  const bool is_empty =
      timeline.ops().empty() && timeline.calls().empty() && timeline.frames().empty() && timeline.marks().empty();
  const bool is_of_host_alone = importer.name() == "kineto" && timeline.provenance().skipped.empty();
  if (is_own || !is_empty || is_of_host_alone) return timeline;
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : timeline.provenance().skipped)
    left_out.push_back(fmt::format("{} x {}", count, reason));
  throw Error(ErrorKind::kInput, SourceLocation{source.path},
              fmt::format("nothing in it was understood as {}{}{}", importer.name(), left_out.empty() ? "" : ": ",
                          fmt::join(left_out, ", ")),
              timeline.provenance().skipped.contains("row with more cells than the header")
                  ? "does a name hold a comma? put it in double quotes"
                  : "");
}

}  // namespace

const std::vector<std::unique_ptr<TraceImporter>>& importers() {
  static const std::vector<std::unique_ptr<TraceImporter>> list = make_importers();
  return list;
}

Timeline load_timeline(const std::string& path, std::string_view format) {
  const bool is_chosen = !format.empty() && format != "auto";
  const TraceImporter* chosen = is_chosen ? importer_named(format) : nullptr;
  const SourceFile source = read_source(path);
  return read_with(is_chosen ? *chosen : importer_of(source), source);
}

CompactCapture load_compact(const std::string& path) {
  SourceFile source = read_source(path);
  const TraceImporter& importer = importer_of(source);
  if (importer.name() != make_native_importer()->name()) return compact(read_with(importer, source));
  if (auto capture = read_native_compact(std::move(source.bytes), path)) return *std::move(capture);
  return compact(load_timeline(path));
}

}  // namespace corun
