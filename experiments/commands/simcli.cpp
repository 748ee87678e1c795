#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "experiments/commands/commands.h"
#include "experiments/run/crash.h"
#include "experiments/run/reproduction.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

/// In the order of --help.
void add_commands(Commands commands) {
  for (const auto add :
       {add_advise, add_fit,     add_load,     add_run,       add_sweep, add_merge, add_hash,    add_execute,
        add_live,   add_control, add_validate, add_calibrate, add_check, add_plan,  add_compare, add_report,
        add_sql,    add_metrics, add_import,   add_export,    add_view,  add_info})
    add(commands);
  Commands policy = commands.group("policy", "Policies that runs can use");
  for (const auto add : {add_policy_list, add_policy_cap, add_policy_guarantee, add_policy_why}) add(policy);
  for (const auto add : {add_identify, add_version}) add(commands);
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TerminalWishes terminal_wishes() {
  TerminalWishes wishes{.allows_color = variable("NO_COLOR").empty() && variable("TERM") != "dumb"};
  const std::string_view columns = variable("COLUMNS");
  std::from_chars(columns.data(), columns.data() + columns.size(), wishes.width);
  return wishes;
}

bool is_main_over = false;

/// Nothing of ours calls exit(): where main has not returned, it was a plug-in, and what it says is no result.
void refuse_to_exit() {
  if (is_main_over) return;
  put_err("error[E0503]: a plug-in policy ended the program\n");
  std::_Exit(static_cast<int>(ErrorKind::kPolicy));
}

}  // namespace

}  // namespace corun

int main(int argc, char** argv) {
  corun::keep_standard_streams();
  std::atexit(corun::refuse_to_exit);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing like any other
  corun::explain_crashes();
  try {
    corun::keep_reproductions({argv, argv + argc});
    corun::CommandLine line(argc, argv);
    corun::add_commands(line.commands());
    const int code = corun::exit_code_after_output(line.parse_and_run(corun::terminal_wishes()));
    corun::is_main_over = true;
    return code;
  } catch (const std::bad_alloc&) {
    corun::is_main_over = true;
    std::fputs("error[E0600]: out of memory\n", stderr);
    return static_cast<int>(corun::ErrorKind::kDevice);
  } catch (const std::exception& error) {
    corun::is_main_over = true;
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return corun::kExitOurBug;
  }
}
