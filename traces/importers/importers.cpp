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

/// Reports of Nsight Systems can be read by itself alone.
void refuse_report(const std::string& path) {
  const bool is_report = path.ends_with(".nsys-rep") || path.ends_with(".qdrep");
  if (!is_report) return;
  const std::string stem = path.substr(0, path.rfind('.'));
  throw Error(ErrorKind::kInput, SourceLocation{path},
              "a report of Nsight Systems, in a format of its own, expected its export to SQLite",
              fmt::format("`nsys export --type sqlite --output {0}.sqlite {1}` makes {0}.sqlite", stem, path));
}

const TraceImporter& importer_of(const SourceFile& source) {
  refuse_report(source.path);
  if (source.bytes.empty()) throw Error(ErrorKind::kInput, SourceLocation{source.path}, "the file is empty");
  const TraceImporter* importer = surest_importer(source);
  if (importer == nullptr) {
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
