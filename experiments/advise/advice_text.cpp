#include "experiments/advise/advice_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "experiments/advise/deploy.h"
#include "experiments/advise/figures/server_text.h"
#include "experiments/advise/figures/slower_hosts.h"
#include "experiments/base/terminal.h"
#include "traces/base/error.h"

namespace corun {

namespace {

bool has_servers(const AdviceQuestion& question) {
  return std::ranges::any_of(question.programs, &AskedProgram::is_server);
}

std::string kept_text(const ProgramShare& share) { return with_band(share.kept, share.kept_band, 2); }

/// "a keeps 0.92, b 0.71", or with servers "chat: TTFT 35.1 of 500 ms, TPOT 14.0 of 50 ms; train keeps 0.85". Of
/// servers whose promises are named already there is nothing more.
std::string keeps(const AdviceQuestion& question, const TriedWay& way, bool with_bands, bool names_servers = true) {
  const bool is_served = has_servers(question);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < way.programs.size(); ++i) {
    const ProgramShare& share = way.programs[i];
    const std::string& name = question.programs[i].name;
    if (share.server) {
      if (names_servers) parts.push_back(server_text(name, *share.server, !with_bands));
      continue;
    }
    parts.push_back(fmt::format("{}{} {}", name, is_served || i == 0 ? " keeps" : "",
                                with_bands ? kept_text(share) : spread_text(share.kept, 2)));
  }
  return fmt::format("{}", fmt::join(parts, is_served ? "; " : ", "));
}

/// What would tell: of the programs of which something is not known, about the one whose part is the widest range.
std::string measuring(const AdviceQuestion& question, const Advice& advice) {
  const auto width = [&](const std::string& name) {
    const auto program = std::ranges::find(question.programs, name, &AskedProgram::name);
    const Spread& kept = advice.ways[*advice.best].programs[program - question.programs.begin()].kept;
    return kept.high - kept.low;
  };
  if (advice.unknown_rates.empty() && advice.unknown_draws.empty())
    return "a measurement of this way at this load would tell";
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
  const TriedWay& best = advice.ways[*advice.best];
  if (!best.is_compared && has_servers(question) && best.way.mode != "mig" && best.way.mode != "policy")
    return " Nothing like these programs was compared with hardware.";
  if (!best.is_compared) return " This mechanism was never compared with hardware.";
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

/// Of all promises together, where servers promise something.
std::string state_text(const TriedWay& way) {
  const auto promises = [](const ProgramShare& share) { return share.server && share.server->has_promises(); };
  if (way.broken.empty()) return std::ranges::any_of(way.programs, promises) ? "kept" : "";
  if (!way.may_keep) return "broken";
  return way.is_close ? "close" : "in doubt";
}

/// "9.41 (surely 7.62)", in requests per second.
std::string load_text(const WayLoads& loads) {
  const auto number = [](const Spread& spread) {
    if (spread.high <= 0) return std::string("none");
    return spread.low == spread.high ? fmt::format("{:.3g}", spread.low)
                                     : fmt::format("{:.3g} to {:.3g}", spread.low, spread.high);
  };
  return fmt::format("{} ({})", number(loads.largest), loads.surely ? "surely " + number(*loads.surely) : "no band");
}

std::vector<std::string> heading_of(const AdviceQuestion& question) {
  std::vector<std::string> heading = {"way", "basis"};
  for (const AskedProgram& program : question.programs) {
    if (program.is_server())
      heading.insert(heading.end(), {program.name + " TTFT ms", "TPOT ms", "good"});
    else
      heading.push_back(program.name + " keeps");
    if (!question.most_p99_ms.empty()) heading.push_back("p99 ms");
    if (!question.least_fps.empty()) heading.push_back("FPS");
  }
  heading.emplace_back("work");
  if (question.has_largest_load) heading.emplace_back("largest load /s");
  heading.emplace_back(has_servers(question) ? "promises" : "");
  return heading;
}

void add_cells(const AdviceQuestion& question, const ProgramShare& share, std::vector<std::string>& row) {
  if (share.server)
    row.insert(row.end(),
               {p99_text(share.server->ttft), p99_text(share.server->tpot), spread_text(share.server->good, 2)});
  else
    row.push_back(kept_text(share));
  if (!question.most_p99_ms.empty())
    row.push_back(with_band(share.p99_ms, share.p99_band, digits_of_milliseconds(share.p99_ms.value_or(Spread{}))));
  if (!question.least_fps.empty()) row.push_back(spread_text(share.fps, 1));
}

std::string table_text(const AdviceQuestion& question, const Advice& advice, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {heading_of(question)};
  for (const TriedWay& way : advice.ways) {
    std::vector<std::string> row = {way.way.label, std::string(to_string(way.basis))};
    for (const ProgramShare& share : way.programs) add_cells(question, share, row);
    if (way.impossible.empty()) {
      row.push_back(fmt::format("{:.2f}", way.work()));
      if (way.loads) row.push_back(load_text(*way.loads));
      row.push_back(has_servers(question) ? state_text(way) : fmt::format("{}", fmt::join(way.broken, "; ")));
    } else {
      row.resize(rows.front().size() - 1);
      row.push_back(way.impossible.substr(0, 90));
    }
    rows.push_back(row);
  }
  return aligned(rows, {}, width);
}

constexpr std::size_t kLegendIndent = 9;

/// What the columns of servers mean.
std::string legend_of_servers(const AdviceQuestion& question) {
  std::string text =
      "TTFT     99th percentile of the time to the first token, TPOT per further token; good: requests within both "
      "promises\n";
  text += fmt::format(
      "promises in doubt: the brackets hold what is promised; close: no brackets, and it is less than {:.0f} % away\n",
      100 * kNear);
  if (question.has_largest_load)
    text += "load     the largest that keeps the promises, surely where the brackets do, too\n";
  return text;
}

/// Whether what some program keeps in a way is a range, and no program's rate or draw is unknown.
bool hangs_on_hosts(const Advice& advice) {
  const auto keeps_a_range = [](const ProgramShare& share) { return is_range(share.kept, 2); };
  return advice.unknown_rates.empty() && advice.unknown_draws.empty() &&
         std::ranges::any_of(advice.ways,
                             [&](const TriedWay& way) { return std::ranges::any_of(way.programs, keeps_a_range); });
}

std::string assumptions_text(const AdviceQuestion& question, const Advice& advice) {
  std::string text;
  std::vector<std::string> bound;
  for (std::size_t i = 0; i < question.programs.size(); ++i)
    if (advice.bounds[i] != "any" && !question.programs[i].is_server())
      bound.push_back(question.programs[i].name + " by the " + advice.bounds[i]);
  text += fmt::format(
      "\nkeeps    rate over the rate alone; in brackets where 90 % of measured figures lie, which were predicted so\n");
  std::set<Basis> labels;
  for (const TriedWay& way : advice.ways) labels.insert(way.basis);
  text += legend_of(labels, kLegendIndent);
  if (has_servers(question)) text += legend_of_servers(question);
  text += fmt::format("work     what all keep together; one after the other makes 1\n");
  if (hangs_on_hosts(advice))
    text += fmt::format("hosts    a range from x to y: hosts as quick in company as alone, and {} times as quick\n",
                        kSlowerHost);
  if (!bound.empty()) text += fmt::format("bound    alone: {}\n", fmt::join(bound, ", "));
  for (const std::string& name : advice.unknown_rates)
    text += fmt::format("assumed  {}'s rate alone is not known: the ends are its fastest and slowest host\n", name);
  for (const std::string& name : advice.unknown_draws) text += fmt::format("assumed  {}\n", unknown_draws_text(name));
  for (const AskedProgram& program : question.programs)
    if (!program.trace.empty() && std::ranges::count(question.programs, program.trace, &AskedProgram::trace) > 1) {
      text +=
          fmt::format("think of one process for all that are like {}: no way here shares as well as larger batches\n",
                      program.name);
      break;
    }
  for (const std::string& warning : advice.warnings) text += fmt::format("{}\n", printable(warning));
  return text;
}

/// " Largest load that keeps the promises: 9.41 (surely 7.62) requests a second in turns, ..."
std::string loads_text(const Advice& advice) {
  std::vector<std::string> parts;
  for (const TriedWay& way : advice.ways)
    if (way.loads) parts.push_back(fmt::format("{} {}", way.way.label, load_text(*way.loads)));
  if (parts.empty()) return "";
  return fmt::format(" Largest load that keeps the promises, in requests per second: {}.", fmt::join(parts, ", "));
}

/// "chat misses its promises even alone: TTFT 612.0 of 500 ms. ", or "".
std::string missed_alone(const Advice& advice) {
  std::string text;
  for (const auto& [server, alone] : advice.alone)
    if (const std::string missed = alone_text(server, alone); !missed.empty()) text += missed + ". ";
  return text;
}

std::string cannot_tell(const AdviceQuestion& question, const Advice& advice) {
  const TriedWay& best = advice.ways[*advice.best];
  if (best.broken.empty())
    return fmt::format("Cannot tell between {} and {}: {}.{}", best.way.label, advice.ways[*advice.second].way.label,
                       measuring(question, advice), ends_text(advice));
  return fmt::format("Cannot tell whether they may share. {}{}: {}; {}.{}", missed_alone(advice),
                     capitalised(best.way.label), fmt::join(best.broken, "; "), measuring(question, advice),
                     ends_text(advice));
}

std::string no_way(const AdviceQuestion& question, const Advice& advice) {
  const TriedWay& best = advice.ways[*advice.best];
  const std::string missed = missed_alone(advice), kept = keeps(question, best, true, false);
  std::vector<std::string> parts = best.broken;
  if (!kept.empty()) parts.insert(has_servers(question) ? parts.end() : parts.begin(), kept);
  return fmt::format("Do not share: {}he nearest is {}: {}.",
                     missed.empty() ? "no way keeps what was asked. T" : missed + "T", best.way.label,
                     fmt::join(parts, "; "));
}

}  // namespace

std::string verdict_text(const AdviceQuestion& question, const Advice& advice) {
  if (!advice.best) return "No way of sharing could be tried.\n";
  const TriedWay& best = advice.ways[*advice.best];
  std::string text, other;
  if (advice.second) {
    const TriedWay& second = advice.ways[*advice.second];
    const bool is_alike = second.broken.empty() && second.goal.middle() >= best.goal.middle() * (1 - kAlike);
    other = fmt::format(" {}{}: {}.", capitalised(second.way.label), is_alike ? " is as good" : "",
                        keeps(question, second, false));
  }
  switch (advice.verdict) {
    case Verdict::kShare:
      text = fmt::format("Share them: {}. {}.{}{}", best.way.label, keeps(question, best, true), other,
                         not_compared(question, advice));
      break;
    case Verdict::kApart:
      text =
          fmt::format("Do not share: one after the other does as much work. The best way, {}, does {:.2f} of it: {}.",
                      best.way.label, best.work(), keeps(question, best, true));
      break;
    case Verdict::kNoWay:
      text = no_way(question, advice);
      break;
    case Verdict::kCannotTell:
      text = cannot_tell(question, advice);
      break;
    case Verdict::kClose:
      text = fmt::format("Close: {}{}, and nothing like it was measured: {}; {}.", missed_alone(advice), best.way.label,
                         fmt::join(best.broken, "; "), measuring(question, advice));
      break;
  }
  return text + loads_text(advice) + "\n";
}

std::string advice_text(const AdviceQuestion& question, const Advice& advice, std::size_t width) {
  return verdict_text(question, advice) + "\n" + table_text(question, advice, width) +
         wrapped(assumptions_text(question, advice), width, kLegendIndent);
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
