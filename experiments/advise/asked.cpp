#include "experiments/advise/asked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "experiments/advise/asked/asked_experiment.h"
#include "experiments/advise/ways.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

void take_ways(const AdviceWords& words, const PolicyRegistry& policies, AdviceQuestion& question) {
  for (const std::string& mode : words.modes)
    if (std::ranges::find(advice_modes(), mode) == advice_modes().end())
      throw Error(ErrorKind::kInput, {},
                  fmt::format("--modes: found `{}`, expected {}", mode, fmt::join(advice_modes(), ", ")));
  for (const std::string& policy : words.policies)
    if (policies.find(policy) == nullptr || !policies.find(policy)->create)
      throw Error(ErrorKind::kInput, {}, fmt::format("--policies: no policy that shares a GPU is called `{}`", policy),
                  "`simcli policy list` names them; `passthrough` are the driver's turns");
  question.modes = words.modes;
  question.policies = words.policies;
}

/// Of which the largest load is searched.
void check_server(const AdviceQuestion& question) {
  const auto servers = std::ranges::count_if(question.programs, &AskedProgram::is_server);
  if (servers == 1) return;
  throw Error(
      ErrorKind::kInput, {},
      fmt::format("--largest-load: {} of the programs are servers, expected one, whose load is searched", servers),
      servers == 0
          ? "a server is a client with `server:` of an experiment, or a capture with `--set PROGRAM.server={...}`"
          : "leave the others out");
}

}  // namespace

AdviceQuestion question_of(const AdviceWords& words, const PolicyRegistry& policies) {
  AdviceQuestion question;
  question.goal = words.is_for_most_work ? AdviceGoal::kMostWork : AdviceGoal::kFairest;
  const AskedPrograms asked = programs_of(words.traces, policies);
  question.programs = asked.programs;
  question.gpu = gpu_of(words.gpu, asked);
  if (question.programs.size() < 2)
    throw Error(ErrorKind::kInput, {}, "advice is about two programs or more",
                "name a capture of each: `simcli advise a.corun b.json.gz`; the same file twice is two such programs");
  state_keys(question.programs, words.rates, words.keys);
  for (const std::string& text : words.kept) {
    const auto [name, value] = assignment("--keep", text);
    question.least_kept[program_called(question.programs, "--keep", name).name] =
        positive("--keep", value, parse_real(value), "a part such as a=0.9");
  }
  for (const std::string& text : words.p99) {
    const auto [name, value] = assignment("--p99", text);
    question.most_p99_ms[program_called(question.programs, "--p99", name).name] =
        positive("--p99", value, milliseconds(value), "a time such as a=30ms");
  }
  for (const std::string& text : words.fps) {
    const auto [name, value] = assignment("--fps", text);
    question.least_fps[program_called(question.programs, "--fps", name).name] =
        positive("--fps", value, parse_real(value), "frames per second such as game=60");
  }
  take_ways(words, policies, question);
  question.has_largest_load = words.has_largest_load;
  if (question.has_largest_load) check_server(question);
  return question;
}

}  // namespace corun
