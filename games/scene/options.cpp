#include "games/scene/options.h"

#include <CLI/CLI.hpp>

#include "games/scene/world/failure.h"

namespace scene {

namespace {

Size read_size(const std::string& text) {
  constexpr int kMostSide = 16384;
  Size size;
  char rest = 0;
  const bool is_size = std::sscanf(text.c_str(), "%dx%d%c", &size.width, &size.height, &rest) == 2;
  const auto is_side = [](int side) { return side >= 1 && side <= kMostSide; };
  if (is_size && is_side(size.width) && is_side(size.height)) return size;
  throw Failure(kWrongUsage,
                "--size: found " + text + ", expected WIDTHxHEIGHT, each 1 to 16384, for example 1920x1080");
}

void add_options(CLI::App& app, Options& options) {
  const CLI::Range levels(std::size_t{0}, kLevels.size() - 1);
  app.set_help_flag("-h,--help", "this text");
  app.add_option_function<std::string>(
      "--size", [&](const std::string& text) { options.size = read_size(text); }, "of the picture (1920x1080)");
  app.add_option("--fps", options.fps, "frames per second at most; 0 = uncapped (0)")->check(CLI::Range(0.0, 1e4));
  app.add_option("--load", options.load, "factor on the lights, shadow and filter taps of every pixel (1)")
      ->check(CLI::Range(0.01, 100.0));
  app.add_option("--frames", options.frames, "ends after that many")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "ends after that time")->check(CLI::PositiveNumber);
  app.add_option("--level", options.level, "quality to begin with; 0 = best (0)")->check(levels);
  app.add_option("--device", options.device, "GPU by CUDA's number, else by EGL's (the first)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--picture", options.picture, "writes the last frame into that file, a portable pixmap");
  const auto task = [&](Task chosen) { return [&options, chosen] { options.task = chosen; }; };
  app.add_flag_callback("--levels", task(Task::kListLevels), "lists the levels and the work of each, counted");
  app.add_flag_callback("--menu", task(Task::kPrintMenu), "measures the levels, prints an experiment's `quality:`");
}

}  // namespace

std::optional<Options> parse_options(int count, const char* const* words) {
  Options options;
  CLI::App app("A game without a screen: frames of a scene whose quality can be set while it runs.", "scene");
  add_options(app, options);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    std::printf("%s", app.help().c_str());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw Failure(kWrongUsage, std::string(error.what()) + "; see scene --help");
  }
  return options;
}

}  // namespace scene
