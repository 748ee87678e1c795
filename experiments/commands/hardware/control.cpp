#include "experiments/commands/commands.h"
#include "sim/live/control_door.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

struct ControlOptions {
  std::string socket;
  std::vector<std::string> adjustments;  ///< "quantum=5s"; none = the state alone
};

int control_command(const CommonOptions&, const ControlOptions& options) {
  put_out(live::ask_run(options.socket, options.adjustments));
  return 0;
}

}  // namespace

void add_control(Commands& commands) {
  auto [command, options] =
      commands.add("control", "Show the state of a live run, or adjust parameters of its policy", &control_command);
  command.option("SOCKET", &options.socket, "What the run was given as `--control`").required();
  command.option("SETTING", &options.adjustments, "PARAMETER=VALUE, all at one instant; none: the state alone");
}

}  // namespace corun
