#include "experiments/advise/asked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "experiments/advise/ways.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

AdviceQuestion question_of(const AdviceWords& words) {
  AdviceQuestion question;
  question.gpu = words.gpu;
  question.goal = words.is_for_most_work ? AdviceGoal::kMostWork : AdviceGoal::kFairest;
  question.programs = asked_programs(words.traces);
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
  for (const std::string& mode : words.modes) {
    if (std::ranges::find(advice_modes(), mode) == advice_modes().end())
      throw Error(ErrorKind::kInput, {},
                  fmt::format("--modes: found `{}`, expected {}", mode, fmt::join(advice_modes(), ", ")));
    question.modes.push_back(mode);
  }
  return question;
}

}  // namespace corun
