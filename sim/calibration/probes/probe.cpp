#include "sim/calibration/probes/probe.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "sim/executor/host/wall_clock.h"
#include "traces/base/error.h"

namespace corun::calibration {

namespace {

constexpr std::pair<std::string_view, Probe> kProbes[] = {{"properties", probe_properties},
                                                          {"spin", probe_spin},
                                                          {"short", probe_short},
                                                          {"load", probe_load},
                                                          {"rates", probe_rates},
                                                          {"fills", probe_fills},
                                                          {"copy", probe_copy},
                                                          {"launch", probe_launch},
                                                          {"context", probe_context},
                                                          {"memory", probe_memory},
                                                          {"clock", probe_clock},
                                                          {"priority", probe_priority},
                                                          {"draw", probe_draw}};

Probe find_probe(const std::string& name) {
  for (const auto& [known, probe] : kProbes)
    if (known == name) return probe;
  throw_input({}, "there is no probe `{}`", name);
}

std::int64_t number_in(std::string_view text, std::string_view where) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size())
    throw_input({}, "{}: found `{}`, expected a whole number", where, text);
  return number;
}

ProbeRequest request_of(int count, char** words) {
  ProbeRequest request;
  if (count > 0) request.name = words[0];
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) throw_input({}, "found `{}`, expected key=value", word);
    const std::string key(word.substr(0, sign));
    const std::string_view value = word.substr(sign + 1);
    if (key == "library") {
      request.library = value;
    } else if (key == "device") {
      request.device = static_cast<int>(number_in(value, word));
    } else {
      request.settings[key] = number_in(value, word);
    }
  }
  return request;
}

void wait_until(std::int64_t instant_ns) {
  constexpr std::int64_t kSpunAtTheEnd = 200'000;
  const std::int64_t left = instant_ns - executor::WallClock::monotonic_ns();
  if (left > kSpunAtTheEnd) usleep(static_cast<useconds_t>((left - kSpunAtTheEnd) / 1'000));
  while (executor::WallClock::monotonic_ns() < instant_ns) {
  }
}

std::int64_t await_start() {
  std::puts("ready");
  std::fflush(stdout);
  char line[64];
  if (std::fgets(line, sizeof(line), stdin) == nullptr) std::exit(0);  // its starter is gone
  const std::int64_t start = std::strtoll(line, nullptr, 10);
  wait_until(start);
  return start;
}

}  // namespace

int run_probe(int count, char** words) {
  const ProbeRequest request = request_of(count, words);
  const Sample sample = find_probe(request.name)(request, await_start);
  std::puts(to_json_line(sample).c_str());
  return 0;
}

}  // namespace corun::calibration
