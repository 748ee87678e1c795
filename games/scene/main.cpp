#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "games/scene/menu.h"
#include "games/scene/play.h"
#include "games/scene/world/failure.h"

namespace {

void carry_out(const scene::Options& options) {
  switch (options.task) {
    case scene::Task::kPlay:
      return scene::play(options);
    case scene::Task::kListLevels:
      return scene::list_levels(options);
    case scene::Task::kPrintMenu:
      return scene::print_menu(options);
  }
}

/// A driver that hangs in its own shutdown is left behind.
int end(int exit_code) {
  constexpr unsigned kSeconds = 3;
  static int code = 0;
  code = exit_code;
  std::fflush(nullptr);
  signal(SIGALRM, [](int) { _exit(code); });
  alarm(kSeconds);
  return exit_code;
}

}  // namespace

int main(int count, char** words) {
  try {
    if (const auto options = scene::parse_options(count, words)) carry_out(*options);
  } catch (const scene::Failure& failure) {
    std::fprintf(stderr, "scene: %s\n", failure.what());
    return end(failure.exit_code);
  }
  return end(0);
}
