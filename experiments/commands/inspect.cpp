#include <fmt/format.h>

#include "experiments/commands/commands.h"
#include "experiments/commands/trace_report.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"
#include "traces/native/native.h"
#include "traces/reader.h"

namespace corun {

namespace {

struct InspectOptions {
  std::string file;
  bool verify = false;
  std::string recover;  ///< "" = do not
};

void print_report(const CommonOptions& common, const NativeReport& report, const std::string& path) {
  const std::string damage = report.damage ? fmt::format("chunk {} at byte {}: {}", report.damage->chunk,
                                                         report.damage->byte, report.damage->what)
                                           : "";
  if (common.json) {
    Json json;
    json.object()
        .field("schema_version", 1)
        .field("chunks", report.chunks)
        .field("chunks_readable", report.chunks_readable);
    json.field("rows", report.rows).field("rows_readable", report.rows_readable).field("rows_lost", report.rows_lost());
    json.field("has_footer", report.has_footer).field("damage", damage).end();
    print_out("{}\n", json.text());
    return;
  }
  print_out("{}: {} of {}{} chunks and {} of {}{} rows are readable{}\n", printable(path), report.chunks_readable,
            report.has_footer ? "" : ">= ", report.chunks, report.rows_readable,
            report.has_footer ? "" : ">= ", report.rows, report.has_footer ? "" : "; the capture did not end properly");
  if (!damage.empty())
    print_out("damaged: {}\nthe first {} rows, up to {}, can be recovered with --recover OUT\n", printable(damage),
              report.rows_before_damage, format_duration(Duration{report.end_before_damage_ns}));
}

int verify(const CommonOptions& common, const std::string& path) {
  const NativeReport report = verify_native(path);
  print_report(common, report, path);
  return report.damage ? static_cast<int>(ErrorKind::kInput) : 0;
}

int inspect_command(const CommonOptions& common, const InspectOptions& options) {
  if (options.verify) return verify(common, options.file);
  const bool recovers = !options.recover.empty();
  const Timeline timeline = recovers ? read_native(read_source(options.file).bytes, options.file, {.use_prefix = true})
                                     : load_timeline(options.file);
  if (recovers) write_native(timeline, options.recover, false);
  if (common.json) {
    Json json;
    add_trace_report(json, timeline, options.recover);
    print_out("{}\n", json.text());
  } else {
    put_out(wrapped(trace_report(timeline, options.file), common.out.table_width(), kFactIndent));
    if (recovers) print_out("written to   {}\n", printable(options.recover));
  }
  return 0;
}

}  // namespace

void add_info(Commands& commands) {
  auto [command, options] = commands.add("info", "Describe a capture", &inspect_command);
  command.option("TRACE", &options.file, "Capture of any known format").required();
  command.flag("--verify", &options.verify, "Check every chunk of a .corun file");
  command.option("--recover", &options.recover, "Write what is readable of a damaged .corun file to OUT")
      .shows_value("OUT");
}

}  // namespace corun
