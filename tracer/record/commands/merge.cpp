#include "tracer/record/host/terminal.h"
#include "tracer/record/options.h"
#include "tracer/record/session.h"
#include "tracer/record/summary.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"
#include "traces/native/native.h"

namespace corun::record {

namespace {

/// "x.corun" for "x.corun.parts".
std::string output_beside(std::string parts) {
  while (parts.size() > 1 && parts.ends_with('/')) parts.pop_back();
  constexpr std::string_view kSuffix = ".parts";
  if (parts.ends_with(kSuffix) && parts.size() > kSuffix.size()) return parts.substr(0, parts.size() - kSuffix.size());
  throw_input(SourceLocation{parts}, "no name to write to can be made from this: say it with -o");
}

void check(const Session& session, const std::string& parts) {
  if (!session.still_writing.empty()) {
    throw Error(ErrorKind::kInput, SourceLocation{parts},
                fmt::format("process {} still writes here", session.still_writing[0]), "wait until it has ended");
  }
  if (!session.has_anything) {
    const auto& notes = session.report.notes;
    throw Error(ErrorKind::kInput, SourceLocation{parts}, "nothing was recorded here", notes.empty() ? "" : notes[0]);
  }
}

}  // namespace

int merge_command(const MergeCommandOptions& options) {
  const std::string output = options.output.empty() ? output_beside(options.parts) : options.output;
  const PartsFolder folder = PartsFolder::open(options.parts);
  const Session session = merge_session(folder);
  check(session, options.parts);
  write_native(session.timeline, output, options.overwrite);
  const Summary summary{session, output, total_bytes({output}), {}, {}, {}};
  if (options.json) put_err(summary_json(summary));
  if (!options.json && !options.is_quiet) put_err(summary_text(summary));
  if (session.has_unreadable) {
    if (!options.is_quiet) warn(inspect_stderr(), kept_text(folder));
  } else {
    folder.remove();
  }
  return 0;
}

}  // namespace corun::record
