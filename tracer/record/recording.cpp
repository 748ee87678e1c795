#include "tracer/record/recording.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include "tracer/record/guests.h"
#include "tracer/record/hints.h"
#include "tracer/record/summary.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"
#include "traces/native/native.h"

namespace corun::record {

namespace {

using std::chrono::milliseconds;

constexpr int kTickMs = 200;
constexpr milliseconds kBetweenLooks{1000};
constexpr milliseconds kMostPatience{5000};  // with parts that are not ended: a game without presents never does

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Steady time is CLOCK_MONOTONIC, which the guests read too.
std::int64_t to_monotonic_ns(std::chrono::steady_clock::time_point instant) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(instant.time_since_epoch()).count();
}

}  // namespace

Recording::Recording(const RecordOptions& options, const PartsFolder& folder, const Environment& environment)
    : options_(options), folder_(folder), inherited_(environment) {}

Environment Recording::environment_of(const RecordOptions& options, const std::string& parts,
                                      std::vector<std::string>& notes) {
  Environment environment = inherited_;
  place_guests(find_guests(executable_folder()), options, environment, notes);
  environment.set("CORUN_TRACE_DIR", parts);
  if (options.max_bytes) environment.set("CORUN_TRACE_MAX_BYTES", std::to_string(*options.max_bytes));
  if (options.redact_names) environment.set("CORUN_TRACE_REDACT", "names");
  if (!options.frames.is_whole())
    environment.set("CORUN_TRACE_FRAMES", fmt::format("{}..{}", options.frames.first, options.frames.last));
  return environment;
}

int Recording::run() {
  Environment traced = environment_of(options_, folder_.path(), notes_);
  if (!options_.is_quiet)
    for (const std::string& note : notes_) warn(terminal_, note);
  if (options_.rate_pass) {
    RecordOptions bare = options_;
    bare.gl = bare.vulkan = Use::kOff;
    std::vector<std::string> told_already;
    Environment environment = environment_of(bare, folder_.untraced_path(), told_already);
    environment.set("CORUN_TRACE_CUDA", "count");
    if (const std::optional<int> code = run_untraced_pass(std::move(environment))) return *code;
  }
  return run_traced_pass(std::move(traced));
}

int Recording::cannot_execute(int error) {
  folder_.remove();
  const std::string why = std::generic_category().message(error);
  print_err("{}", render(Error(ErrorKind::kInput, SourceLocation{options_.command[0]}, "cannot execute it: " + why),
                         terminal_.has_color));
  return error == ENOENT ? kExitNotFound : kExitCannotExecute;
}

/// An exit code where the recording ends here.
std::optional<int> Recording::run_untraced_pass(Environment environment) {
  folder_.make_untraced();
  if (!options_.is_quiet) print_err("untraced pass: the program runs once without a recording\n");
  begin_ = Clock::now();
  if (options_.delay) folder_.remember(kUntracedFrom, to_monotonic_ns(begin_ + *options_.delay));
  if (options_.timed) window_end_ = begin_ + options_.delay.value_or(Duration::zero()) + *options_.timed;
  is_finished_ = true;  // of this pass nothing is written
  Child child({options_.command, std::move(environment), !options_.follow_children, true}, signals_);
  if (child.exec_error() != 0) return cannot_execute(child.exec_error());
  while (!child.exit_code()) {
    take_signal(child, kTickMs);
    watch_window(child);
  }
  untraced_seconds_ = seconds_between(begin_, Clock::now());
  is_finished_ = false;
  window_over_.reset();
  if (stopped_by_ == 0) return std::nullopt;
  folder_.remove();
  return kExitSignal + stopped_by_;
}

void Recording::set_window(Environment& environment) {
  begin_ = Clock::now();
  window_begin_ = begin_ + options_.delay.value_or(Duration::zero());
  if (options_.delay) environment.set("CORUN_TRACE_FROM_NS", std::to_string(to_monotonic_ns(window_begin_)));
  if (!options_.timed) return;
  window_end_ = window_begin_ + *options_.timed;
  environment.set("CORUN_TRACE_UNTIL_NS", std::to_string(to_monotonic_ns(*window_end_)));
}

int Recording::run_traced_pass(Environment environment) {
  if (!options_.frames.is_whole()) {
    folder_.remember(kFirstFrame, static_cast<std::int64_t>(options_.frames.first));
    folder_.remember(kLastFrame, static_cast<std::int64_t>(options_.frames.last));
  }
  memory_.begin();
  set_window(environment);
  Child child({options_.command, std::move(environment), !options_.follow_children, false}, signals_);
  if (child.exec_error() != 0) return cannot_execute(child.exec_error());
  while (!is_over(child)) {
    take_signal(child, kTickMs);
    look_at_memory();
    if (!is_finished_) power_.look();
    look_at_host();
    look_around();
    watch_window(child);
  }
  clear_progress();
  if (!is_finished_) finish();
  return has_failed_ ? kExitRecorderFailed : *child.exit_code();
}

bool Recording::is_over(Child& child) {
  if (!child.exit_code()) return false;
  if (!seconds_) {
    seconds_ = seconds_between(begin_, Clock::now());
    stopped_by_ = 0;
  }
  return is_finished_ || stopped_by_ != 0 || !options_.follow_children || !has_living_writers();
}

bool Recording::has_living_writers() const {
  for (const std::string& part : folder_.parts())
    if (writer_of(part).is_alive) return true;
  return false;
}

void Recording::take_signal(Child& child, int wait_ms) {
  const std::optional<Signals::Arrival> arrival = signals_.next(wait_ms);
  if (!arrival || arrival->number == SIGCHLD) return;
  if (arrival->asks_to_stop()) stopped_by_ = arrival->number;
  const bool has_it_already = arrival->is_from_terminal && ::getpgid(child.process()) == ::getpgrp();
  if (!has_it_already) child.send(arrival->number);
}

void Recording::look_around() {
  const Clock::time_point now = Clock::now();
  const bool begins = !is_window_seen_ && now >= window_begin_;
  if (is_finished_ || (!begins && now - looked_ < kBetweenLooks)) return;
  looked_ = now;
  look_for_neighbours(now);
  show_progress();
}

/// Memory that is taken before the window is needed as well.
void Recording::look_at_memory() {
  if (is_finished_ || !memory_.look()) return;
  try {
    for (const auto& [gpu, bytes] : memory_.peaks())
      folder_.remember(kMemoryOn + gpu, static_cast<std::int64_t>(bytes));
  } catch (const Error&) {  // the capture does not say it then
  }
}

void Recording::look_at_host() {
  if (is_finished_ || Clock::now() < window_begin_) return;
  std::vector<pid_t> writers;
  for (const std::string& part : folder_.parts())
    if (const PartWriter writer = writer_of(part); writer.is_alive)
      writers.push_back(static_cast<pid_t>(writer.process));
  host_.look(writers);
}

/// Only programs that work in the window are neighbours.
void Recording::look_for_neighbours(Clock::time_point now) {
  if (now < window_begin_ || (window_end_ && now >= *window_end_)) return;
  if (!is_window_seen_) neighbours_.skip();
  if (!std::exchange(is_window_seen_, true)) return;
  const auto known = [&] { return neighbours_.gpus().size() + neighbours_.own_gpus().size(); };
  const std::size_t before = known();
  neighbours_.look(folder_.parts());
  if (known() == before) return;
  try {
    for (const std::string& gpu : neighbours_.gpus()) folder_.remember(kNeighboursOn + gpu, 1);
    for (const std::string& gpu : neighbours_.own_gpus()) folder_.remember(kWorkedOn + gpu, 1);
  } catch (const Error& error) {
    notes_.push_back("other programs used the GPU, which could not be written down: " + error.message());
  }
}

/// A program that is to be terminated gets its signal when its parts are complete.
void Recording::watch_window(Child& child) {
  const Clock::time_point now = Clock::now();
  if (!window_end_ || now < *window_end_) return;
  if (!window_over_) {
    if (!has_settled()) return;
    if (options_.kill == Kill::kTerm) child.send(SIGTERM);
    window_over_ = now;
  }
  const bool ends_soon = options_.kill == Kill::kTerm && now - *window_over_ < kMostPatience;
  if (!is_finished_ && !ends_soon) finish();
}

/// True when every part is ended, by its writer or with it.
bool Recording::has_settled() const { return Clock::now() - *window_end_ > kMostPatience || folder_.writing().empty(); }

void Recording::show_progress() {
  const double elapsed = seconds_between(begin_, looked_);
  if (!options_.shows_progress || !terminal_.is_interactive || options_.is_quiet || elapsed < 1) return;
  const std::vector<std::string> parts = folder_.parts();
  std::string text = fmt::format("recording  {}  {} in {} part{}", clock_text(elapsed), bytes_text(total_bytes(parts)),
                                 parts.size(), parts.size() == 1 ? "" : "s");
  if (window_end_ && looked_ < *window_end_)
    text += fmt::format("  {} left", clock_text(seconds_between(looked_, *window_end_)));
  print_err("\r\033[K{}", text);
  std::fflush(stderr);
  shows_progress_ = true;
}

void Recording::clear_progress() {
  if (shows_progress_) print_err("\r\033[K");
  shows_progress_ = false;
}

void Recording::finish() {
  look_for_neighbours(Clock::now());
  is_finished_ = true;
  clear_progress();
  try {
    write_capture();
  } catch (const Error& error) {
    give_up(error);
  } catch (const std::bad_alloc&) {
    give_up(Error(ErrorKind::kDevice, "there is not enough memory to merge the parts"));
  }
}

void Recording::write_capture() {
  const Session session = merge_session(
      folder_, [&](std::int64_t from_ns, std::int64_t to_ns) { return power_.between(from_ns, to_ns); },
      [&](std::int64_t from_ns, std::int64_t to_ns) { return host_.between(from_ns, to_ns); });
  if (!session.has_anything) return tell_nothing_was_recorded(session);
  write_native(session.timeline, options_.output, options_.overwrite);
  remove_parts(session);
  const Summary summary{session, options_.output, total_bytes({options_.output}), seconds_, untraced_seconds_, notes_};
  if (options_.json) put_err(summary_json(summary));
  if (!options_.json && !options_.is_quiet) put_err(summary_text(summary));
}

void Recording::remove_parts(const Session& session) {
  if (session.has_unreadable) {
    if (!options_.is_quiet) warn(terminal_, kept_text(folder_));
  } else if (!folder_.remove()) {
    warn(terminal_, fmt::format("{} could not be deleted", folder_.path()));
  }
}

void Recording::tell_nothing_was_recorded(const Session& session) {
  warn(terminal_,
       fmt::format("nothing was recorded of {}, and {} is not written", options_.command[0], options_.output));
  Summary summary{session, "", 0, seconds_, untraced_seconds_, notes_};
  if (session.report.notes.empty()) {
    for (const std::string& why : why_nothing_was_recorded(options_)) {
      summary.notes.push_back(why);
      print_err("   = note: {}\n", printable(why));
    }
  }
  for (const std::string& note : session.report.notes) print_err("   = note: {}\n", printable(note));
  remove_parts(session);
  if (options_.json) put_err(summary_json(summary));
}

void Recording::give_up(const Error& error) {
  has_failed_ = true;
  put_err(render(error, terminal_.has_color));
  print_err("   = note: the parts are kept: `simtrace merge {} -o NAME.corun` finishes the recording\n",
            printable(folder_.path()));
}

}  // namespace corun::record
