#include "experiments/advise/advice_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/advise/deploy.h"
#include "experiments/base/terminal.h"
#include "traces/base/error.h"

namespace corun {

namespace {

std::string kept_text(const ProgramShare& share) { return with_band(share.kept, share.kept_band, 2); }

std::string keeps(const AdviceQuestion& question, const TriedWay& way, bool with_bands) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < way.programs.size(); ++i)
    parts.push_back(fmt::format("{}{} {}", question.programs[i].name, i == 0 ? " keeps" : "",
                                with_bands ? kept_text(way.programs[i]) : spread_text(way.programs[i].kept, 2)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What would tell: of the programs of which something is not known, about the one whose part is the widest range.
std::string measuring(const AdviceQuestion& question, const Advice& advice) {
  const auto width = [&](const std::string& name) {
    const auto program = std::ranges::find(question.programs, name, &AskedProgram::name);
    const Spread& kept = advice.ways[*advice.best].programs[program - question.programs.begin()].kept;
    return kept.high - kept.low;
  };
  if (advice.unknown_rates.empty()) return unknown_draws_text(std::ranges::max(advice.unknown_draws, {}, width));
  const std::string name = std::ranges::max(advice.unknown_rates, {}, width);
  return fmt::format(
      "measure the rate of {0} alone without a recorder and state it (`--solo-rate {0}=31/s`), or record "
      "it again with `simtrace record --rate-pass -o {0}.corun -- COMMAND`",
      name);
}

std::string per_second(double rate) {
  return rate < 100 ? fmt::format("{:.3g}/s", rate) : fmt::format("{:.0f}/s", rate);
}

/// What the answer is at the ends of the one rate that is not known; "" where that is not what decides.
std::string ends_text(const Advice& advice) {
  if (!advice.hangs_on) return "";
  const HangsOn& its = *advice.hangs_on;
  const std::string slow = per_second(its.rate_per_s.low), fast = per_second(its.rate_per_s.high);
  if (!its.changes_at_per_s)
    return fmt::format(" With {} alone, its slowest host, that is {}, with {}, its fastest, {}.", slow, its.at_low,
                       fast, its.at_high);
  return fmt::format(" Below about {} alone (its ends are {} and {}): {}; above: {}.",
                     per_second(*its.changes_at_per_s), slow, fast, its.at_low, its.at_high);
}

/// A way that may be better, but whose mechanism was never compared with hardware, or that the best one is such.
std::string not_compared(const AdviceQuestion& question, const Advice& advice) {
  if (!advice.ways[*advice.best].is_compared) return " This mechanism was never compared with hardware.";
  const TriedWay* found = nullptr;
  for (const TriedWay& way : advice.ways)
    if (way.impossible.empty() && !way.is_compared && way.broken.empty() &&
        (found == nullptr || way.goal.middle() > found->goal.middle()))
      found = &way;
  if (found == nullptr || found->goal.middle() <= advice.ways[*advice.best].goal.middle() * (1 + kAlike)) return "";
  return fmt::format(" {} may be better ({}), but was never compared with hardware.", found->way.label,
                     keeps(question, *found, false));
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string table_text(const AdviceQuestion& question, const Advice& advice) {
  const bool has_times = !question.most_p99_ms.empty(), has_fps = !question.least_fps.empty();
  std::vector<std::string> heading = {"way"};
  for (const AskedProgram& program : question.programs) {
    heading.push_back(program.name + " keeps");
    if (has_times) heading.push_back("p99 ms");
    if (has_fps) heading.push_back("FPS");
  }
  heading.insert(heading.end(), {"work", ""});
  std::vector<std::vector<std::string>> rows = {heading};
  for (const TriedWay& way : advice.ways) {
    std::vector<std::string> row = {way.way.label};
    for (const ProgramShare& share : way.programs) {
      row.push_back(kept_text(share));
      if (has_times)
        row.push_back(with_band(share.p99_ms, share.p99_band, digits_of_milliseconds(share.p99_ms.value_or(Spread{}))));
      if (has_fps) row.push_back(spread_text(share.fps, 1));
    }
    row.resize(heading.size() - 2);
    row.push_back(way.impossible.empty() ? fmt::format("{:.2f}", way.work()) : "");
    row.push_back(way.impossible.empty() ? fmt::format("{}", fmt::join(way.broken, "; "))
                                         : way.impossible.substr(0, 90));
    rows.push_back(row);
  }
  return aligned(rows);
}

std::string assumptions_text(const AdviceQuestion& question, const Advice& advice) {
  std::string text;
  std::vector<std::string> bound;
  for (std::size_t i = 0; i < question.programs.size(); ++i)
    if (advice.bounds[i] != "any") bound.push_back(question.programs[i].name + " by the " + advice.bounds[i]);
  text += fmt::format(
      "\nkeeps    rate over the rate alone; in brackets where 90 % of measured figures lie, which were predicted so\n");
  text += fmt::format("work     what all keep together; one after the other makes 1\n");
  if (!bound.empty()) text += fmt::format("bound    alone: {}\n", fmt::join(bound, ", "));
  for (const std::string& name : advice.unknown_rates)
    text += fmt::format("assumed  {}'s rate alone is not known: the ends are its fastest and slowest host\n", name);
  for (const std::string& name : advice.unknown_draws) text += fmt::format("assumed  {}\n", unknown_draws_text(name));
  for (const AskedProgram& program : question.programs)
    if (std::ranges::count(question.programs, program.trace, &AskedProgram::trace) > 1) {
      text +=
          fmt::format("think of one process for all that are like {}: no way here shares as well as larger batches\n",
                      program.name);
      break;
    }
  for (const std::string& warning : advice.warnings) text += fmt::format("{}\n", printable(warning));
  return text;
}

}  // namespace

std::string verdict_text(const AdviceQuestion& question, const Advice& advice) {
  if (!advice.best) return "No way of sharing could be tried.\n";
  const TriedWay& best = advice.ways[*advice.best];
  std::string other;
  if (advice.second) {
    const TriedWay& second = advice.ways[*advice.second];
    const bool is_alike = second.broken.empty() && second.goal.middle() >= best.goal.middle() * (1 - kAlike);
    other = fmt::format(" {}{}: {}.", capitalised(second.way.label), is_alike ? " is as good" : "",
                        keeps(question, second, false));
  }
  switch (advice.verdict) {
    case Verdict::kShare:
      return fmt::format("Share them: {}. {}.{}{}\n", best.way.label, keeps(question, best, true), other,
                         not_compared(question, advice));
    case Verdict::kApart:
      return fmt::format(
          "Do not share: one after the other does as much work. The best way, {}, does {:.2f} of it: {}.\n",
          best.way.label, best.work(), keeps(question, best, true));
    case Verdict::kNoWay:
      return fmt::format("Do not share: no way keeps what was asked. The nearest is {}: {}; {}.\n", best.way.label,
                         keeps(question, best, true), fmt::join(best.broken, "; "));
    case Verdict::kCannotTell:
      if (!best.broken.empty())
        return fmt::format("Cannot tell whether they may share. {}: {}; {}.{}\n", capitalised(best.way.label),
                           fmt::join(best.broken, "; "), measuring(question, advice), ends_text(advice));
      return fmt::format("Cannot tell between {} and {}: {}.{}\n", best.way.label,
                         advice.ways[*advice.second].way.label, measuring(question, advice), ends_text(advice));
  }
  return {};
}

std::string advice_text(const AdviceQuestion& question, const Advice& advice) {
  return verdict_text(question, advice) + "\n" + table_text(question, advice) + assumptions_text(question, advice);
}

std::string deployment_text(const std::string& kind, const AdviceQuestion& question, const Advice& advice) {
  if (std::ranges::find(deploy_kinds(), kind) == deploy_kinds().end())
    throw Error(ErrorKind::kInput, {},
                fmt::format("--deploy: found `{}`, expected {}", kind, fmt::join(deploy_kinds(), ", ")));
  std::vector<const TriedWay*> ways;
  for (const TriedWay& way : advice.ways)
    if (way.impossible.empty()) ways.push_back(&way);
  std::ranges::stable_sort(ways, std::greater{}, &TriedWay::rank);
  std::optional<Error> refused;
  for (const TriedWay* way : ways) {
    try {
      const std::string text = deployment(kind, question, way->way);
      return fmt::format("# {}: {}\n{}", capitalised(way->way.label), keeps(question, *way, true), text);
    } catch (const Error& error) {
      if (!refused) refused = error;
    }
  }
  if (refused) throw *refused;
  return {};
}

}  // namespace corun
