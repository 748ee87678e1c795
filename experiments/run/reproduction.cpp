#include "experiments/run/reproduction.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "experiments/base/terminal.h"
#include "experiments/run/crash.h"
#include "traces/base/streams.h"
#include "traces/base/violation.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

thread_local const WatchedRun* watched_run = nullptr;
std::string command_line;

/// A new folder; its name gets a number if there are others of the same run.
std::filesystem::path new_folder(const std::filesystem::path& parent, const std::string& name) {
  for (int number = 1;; ++number) {
    const std::filesystem::path path = parent / (number == 1 ? name : fmt::format("{}-{}", name, number));
    if (std::filesystem::create_directory(path)) return path;
  }
}

/// The first thread that gets here writes; the program ends before another could.
void explain_and_exit(const std::string& promise) {
  static std::mutex mutex;
  mutex.lock();
  try {
    const WatchedRun* run = WatchedRun::of_this_thread();
    if (run != nullptr)
      print_err("  what is needed to repeat it is in {}\n", run->write_bundle(".", promise, command_line));
  } catch (const std::exception& failure) {
    print_err("  what is needed to repeat it could not be written: {}\n", failure.what());
  }
  std::fflush(nullptr);
  std::_Exit(kExitOurBug);
}

std::string place_of(const Scenario& scenario, const PolicyChoice& policy, const RunSpec& spec) {
  return fmt::format("in run {} of policy `{}`{}, scenario `{}`, seed {}", spec.id.substr(0, 12),
                     printable(policy.label),
                     policy.plugin.empty() ? "" : fmt::format(" (plug-in {})", printable(policy.plugin)),
                     printable(scenario.name), spec.seed);
}

std::string advice_for(const PolicyChoice& policy) {
  const char* whose = policy.plugin.empty()
                          ? "this is a mistake in simcli: please report it with the experiment"
                          : "a plug-in runs inside this program: look for the mistake there first, under `gdb --args`";
  return fmt::format("  runs that had been written are whole in the results; {}\n", whose);
}

}  // namespace

WatchedRun::WatchedRun(const Experiment& experiment, const RunSpec& spec)
    : experiment_(experiment),
      spec_(spec),
      place_(place_of(experiment.scenarios[spec.scenario], experiment.scenarios[spec.scenario].policies[spec.policy],
                      spec)),
      advice_(advice_for(experiment.scenarios[spec.scenario].policies[spec.policy])) {
  prepare_thread_for_crashes();
  watched_run = this;
}

WatchedRun::~WatchedRun() { watched_run = nullptr; }

const WatchedRun* WatchedRun::of_this_thread() { return watched_run; }

std::string WatchedRun::decisions_text() const {
  std::string text = "time_ns,action,client,count,duration_ns,level,fraction\n";
  const std::uint64_t first = decisions_ - std::min<std::uint64_t>(decisions_, last_.size());
  for (std::uint64_t i = first; i < decisions_; ++i) {
    const auto& [time, action] = last_[i % last_.size()];
    text += fmt::format("{},{},{},{},{},{},{}\n", to_ns(time), to_string(action.kind), action.client.value,
                        action.count, to_ns(action.duration), action.level, action.fraction);
  }
  return text;
}

std::string WatchedRun::write_bundle(const std::string& parent, const std::string& promise,
                                     const std::string& command) const {
  const Scenario& scenario = experiment_.scenarios[spec_.scenario];
  const PolicyChoice& policy = scenario.policies[spec_.policy];
  const std::filesystem::path folder = new_folder(parent, "corun-violation-" + spec_.id.substr(0, 12));
  const auto write = [&](const char* name, const std::string& text) {
    write_file((folder / name).string(), text, false);
  };
  write("violation.txt",
        fmt::format("{}\nsimulated time: {} ns, or later within the same instant's work\nrun: {}\nscenario: {}\n"
                    "policy: {}\nseed: {}\nengine: {}\nexperiment: {}\ncommand: {}\n",
                    promise, to_ns(now_), spec_.id, scenario.name, policy.label, spec_.seed, engine_version(),
                    experiment_.file, command));
  write("decisions.csv", decisions_text());
  write("experiment.yaml", read_text_file(experiment_.file));
  const FileHashes hashes = make_plan(experiment_).hashes;
  std::string captures;
  for (const auto& [path, hash] : hashes) captures += fmt::format("{}  {}\n", hash, path);
  write("captures.txt", captures);
  write("run.txt", canonical_run(scenario, policy, spec_.seed, hashes));
  return folder.string();
}

void keep_reproductions(std::vector<std::string> command) {
  command_line = fmt::format("{}", fmt::join(command, " "));
  set_violation_handler(explain_and_exit);
}

}  // namespace corun
