#include "experiments/summary/progress.h"

#include <algorithm>

#include "traces/base/streams.h"

namespace corun {

namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(const Experiment& experiment, const Plan& plan, ProgressStyle style, const Terminal& terminal)
    : experiment_(experiment), plan_(plan), style_(style), terminal_(terminal) {
  for (const RunSpec& spec : plan.runs) planned_s_ += to_seconds(experiment.scenarios[spec.scenario].horizon);
}

std::string Progress::line(const RunSpec& spec) const {
  const Scenario& scenario = experiment_.scenarios[spec.scenario];
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double left = elapsed * (planned_s_ / simulated_s_ - 1);
  const double share = simulated_s_ / planned_s_;
  const std::string eta =
      done_ < 5 ? fmt::format("{}-{}", clock_text(left / 2), clock_text(left * 2)) : clock_text(left);
  std::string bar;
  const auto cells = static_cast<int>(share * 20);
  if (has_bar_) {
    for (int i = 0; i < 20; ++i) bar += i < cells ? "█" : "·";
    bar += "  ";
  }
  return fmt::format("{:>4}/{}  {}{:>3.0f}%  {:.1f} Mev/s  {:.0f}x real time  ETA {}  {} {} seed {}", done_,
                     plan_.runs.size(), bar, share * 100, static_cast<double>(events_) / elapsed * 1e-6,
                     simulated_s_ / elapsed, eta, scenario.name, scenario.policies[spec.policy].label, spec.seed);
}

void Progress::begins(const RunSpec& spec) {
  if (style_ == ProgressStyle::kNone) return;
  const Scenario& scenario = experiment_.scenarios[spec.scenario];
  const std::string text =
      fmt::format("run {}/{}  {}, {}, seed {}  ETA {}", done_ + 1, plan_.runs.size(), scenario.name,
                  scenario.policies[spec.policy].label, spec.seed, clock_text(planned_s_ - simulated_s_));
  print_err("{}\n", printable(text));
  std::fflush(stderr);
}

void Progress::finished(const RunSpec& spec, const RunOutcome& outcome) {
  ++done_;
  events_ += outcome.events;
  simulated_s_ += to_seconds(experiment_.scenarios[spec.scenario].horizon);
  const auto now = Clock::now();
  const bool shows_bar = style_ == ProgressStyle::kAuto && terminal_.is_interactive;
  if (style_ == ProgressStyle::kNone || (shows_bar && now - begin_ < std::chrono::seconds(1))) return;
  if (now - shown_ < (shows_bar ? std::chrono::milliseconds(100) : std::chrono::milliseconds(30'000))) return;
  shown_ = now;
  has_bar_ = shows_bar;
  const std::string text = printable(line(spec));
  if (shows_bar) {
    print_err("\r\033[K{}", text.substr(0, terminal_.width + 2 * 20));
  } else {
    print_err("{}\n", text);
  }
  std::fflush(stderr);
}

void Progress::clear() {
  if (has_bar_) print_err("\r\033[K");
  has_bar_ = false;
}

}  // namespace corun
