#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "experiments/advise/advice.h"
#include "experiments/advise/deploy.h"
#include "experiments/base/json.h"
#include "experiments/base/processors.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/counted.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

struct AdviseOptions {
  std::vector<std::string> traces, rates, pacings, kept, p99, fps, modes;
  std::string gpu = "h200", experiment, deploy;
  bool is_for_most_work = false, overwrites = false;
};

/// "program=value" of an option.
std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw Error(ErrorKind::kInput, {}, fmt::format("{}: found `{}`, expected PROGRAM=VALUE", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The name of its file without endings, as a client may be called.
std::string name_of(const std::string& trace, const std::vector<AdviceQuestion::Program>& others) {
  std::string name = std::filesystem::path(trace).filename().string();
  name = name.substr(0, std::max<std::size_t>(1, name.find('.')));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  std::string unique = name;
  const auto is_taken = [&] {
    return std::ranges::find(others, unique, &AdviceQuestion::Program::name) != others.end();
  };
  for (int number = 2; is_taken(); ++number) unique = fmt::format("{}_{}", name, number);
  return unique;
}

AdviceQuestion::Program& program_called(AdviceQuestion& question, const std::string& option, const std::string& name) {
  const auto found = std::ranges::find(question.programs, name, &AdviceQuestion::Program::name);
  if (found != question.programs.end()) return *found;
  std::vector<std::string> names;
  for (const auto& program : question.programs) names.push_back(program.name);
  throw Error(ErrorKind::kInput, {},
              fmt::format("{}: no program is called `{}`; there are {}", option, name, fmt::join(names, ", ")),
              "programs are called as their files, without endings");
}

double positive(const std::string& option, const std::string& text, std::optional<double> value, const char* example) {
  if (value && *value > 0) return *value;
  throw Error(ErrorKind::kInput, {}, fmt::format("{}: found `{}`, expected {}", option, text, example));
}

AdviceQuestion question_of(const AdviseOptions& options) {
  AdviceQuestion question;
  question.gpu = options.gpu;
  question.goal = options.is_for_most_work ? AdviceGoal::kMostWork : AdviceGoal::kFairest;
  for (const std::string& trace : options.traces)
    question.programs.push_back({name_of(trace, question.programs), trace, ""});
  if (question.programs.size() < 2)
    throw Error(ErrorKind::kInput, {}, "advice is about two programs or more",
                "name a capture of each: `simcli advise a.corun b.json.gz`; the same file twice is two such programs");
  for (const std::string& text : options.rates) {
    const auto [name, value] = assignment("--solo-rate", text);
    positive("--solo-rate", value, parse_rate(value), "a rate such as a=31/s");
    program_called(question, "--solo-rate", name).keys += ", solo_rate: " + value;
  }
  for (const std::string& text : options.pacings) {
    const auto [name, value] = assignment("--pacing", text);
    program_called(question, "--pacing", name).keys += ", pacing: " + value;
  }
  for (const std::string& text : options.kept) {
    const auto [name, value] = assignment("--keep", text);
    question.least_kept[program_called(question, "--keep", name).name] =
        positive("--keep", value, parse_real(value), "a part such as a=0.9");
  }
  for (const std::string& text : options.p99) {
    const auto [name, value] = assignment("--p99", text);
    const auto duration = parse_duration(value);
    question.most_p99_ms[program_called(question, "--p99", name).name] = positive(
        "--p99", value, duration ? std::optional(to_seconds(*duration) * 1e3) : std::nullopt, "a time such as a=30ms");
  }
  for (const std::string& text : options.fps) {
    const auto [name, value] = assignment("--fps", text);
    question.least_fps[program_called(question, "--fps", name).name] =
        positive("--fps", value, parse_real(value), "frames per second such as game=60");
  }
  for (const std::string& mode : options.modes) {
    if (std::ranges::find(advice_modes(), mode) == advice_modes().end())
      throw Error(ErrorKind::kInput, {},
                  fmt::format("--modes: found `{}`, expected {}", mode, fmt::join(advice_modes(), ", ")));
    question.modes.push_back(mode);
  }
  return question;
}

std::string spread_text(const Spread& spread, int digits) {
  const std::string low = fmt::format("{:.{}f}", spread.low, digits),
                    high = fmt::format("{:.{}f}", spread.high, digits);
  return low == high ? low : low + " to " + high;
}

std::string kept_text(const ProgramShare& share) {
  const std::string point = spread_text(share.kept, 2);
  if (share.kept_most <= 0) return point + " (no band)";
  return fmt::format("{} ({:.2f} to {:.2f})", point, share.kept_least, share.kept_most);
}

std::string keeps(const AdviceQuestion& question, const TriedWay& way, bool with_bands) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < way.programs.size(); ++i)
    parts.push_back(fmt::format("{}{} {}", question.programs[i].name, i == 0 ? " keeps" : "",
                                with_bands ? kept_text(way.programs[i]) : spread_text(way.programs[i].kept, 2)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string measuring(const AdviceQuestion& question, const Advice& advice) {
  const auto& name = advice.unknown_rates.front();
  const auto program = std::ranges::find(question.programs, name, &AdviceQuestion::Program::name);
  return fmt::format(
      "measure the rate of {} alone without a recorder and state it (`--solo-rate {}=31/s`), or record it "
      "again with `simtrace record --rate-pass -o {} -- COMMAND`",
      name, name, program->trace);
}

std::string verdict_text(const AdviceQuestion& question, const Advice& advice) {
  if (!advice.best) return "No way of sharing could be tried.\n";
  const TriedWay& best = advice.ways[*advice.best];
  const std::string other = advice.second ? fmt::format(" {}: {}.", advice.ways[*advice.second].way.label,
                                                        keeps(question, advice.ways[*advice.second], false))
                                          : "";
  switch (advice.verdict) {
    case Verdict::kShare:
      return fmt::format("Share them: {}. {}.{}\n", best.way.label, keeps(question, best, true), other);
    case Verdict::kApart:
      return fmt::format(
          "Do not share: one after the other does as much work. The best way, {}, does {:.2f} of it: {}.\n",
          best.way.label, best.work(), keeps(question, best, true));
    case Verdict::kNoWay:
      return fmt::format("Do not share: no way keeps what was asked. The nearest is {}: {}; {}.\n", best.way.label,
                         keeps(question, best, true), fmt::join(best.broken, "; "));
    case Verdict::kCannotTell:
      return fmt::format("Cannot tell between {} and {}: {}.\n", best.way.label, advice.ways[*advice.second].way.label,
                         measuring(question, advice));
  }
  return {};
}

void print_table(const AdviceQuestion& question, const Advice& advice) {
  const bool has_times = !question.most_p99_ms.empty(), has_fps = !question.least_fps.empty();
  std::vector<std::string> heading = {"way"};
  for (const AdviceQuestion::Program& program : question.programs) {
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
      if (has_times) row.push_back(share.p99_ms ? spread_text(*share.p99_ms, 1) : "");
      if (has_fps) row.push_back(share.fps ? spread_text(*share.fps, 1) : "");
    }
    row.resize(heading.size() - 2);
    row.push_back(way.impossible.empty() ? fmt::format("{:.2f}", way.work()) : "");
    row.push_back(way.impossible.empty() ? fmt::format("{}", fmt::join(way.broken, "; "))
                                         : way.impossible.substr(0, 90));
    rows.push_back(row);
  }
  put_out(aligned(rows));
}

void print_assumptions(const AdviceQuestion& question, const Advice& advice) {
  std::vector<std::string> bound;
  for (std::size_t i = 0; i < question.programs.size(); ++i)
    if (advice.bounds[i] != "any") bound.push_back(question.programs[i].name + " by the " + advice.bounds[i]);
  print_out(
      "\nkeeps    rate over the rate alone; in brackets where 90 % of measured ones lie, which were predicted so\n");
  print_out("work     what all keep together; one after the other makes 1\n");
  if (!bound.empty()) print_out("bound    alone: {}\n", fmt::join(bound, ", "));
  for (const std::string& name : advice.unknown_rates)
    print_out("assumed  {}'s rate alone is not known: the ends are its fastest and slowest host\n", name);
  for (const AdviceQuestion::Program& program : question.programs)
    if (std::ranges::count(question.programs, program.trace, &AdviceQuestion::Program::trace) > 1) {
      print_out("think of one process for all that are like {}: no way here shares as well as larger batches\n",
                program.name);
      break;
    }
  for (const std::string& warning : advice.warnings) print_out("{}\n", printable(warning));
}

void add_spread(Json& json, const char* name, const std::optional<Spread>& spread) {
  if (spread) json.key(name).object().field("low", spread->low).field("high", spread->high).end();
}

void print_json(const AdviceQuestion& question, const Advice& advice) {
  constexpr std::array<std::string_view, 4> kVerdicts = {"share", "apart", "no_way", "cannot_tell"};
  Json json;
  json.object().field("schema_version", 1).field("verdict", kVerdicts[static_cast<std::size_t>(advice.verdict)]);
  json.field("text", verdict_text(question, advice));
  if (advice.best) json.field("best", advice.ways[*advice.best].way.label);
  json.key("ways").array();
  for (const TriedWay& way : advice.ways) {
    json.object().field("mode", way.way.mode).field("label", way.way.label).field("impossible", way.impossible);
    json.key("parts").array();
    for (const int part : way.way.parts) json.value(part);
    json.end().key("broken").array();
    for (const std::string& promise : way.broken) json.value(promise);
    json.end().key("programs").array();
    for (std::size_t i = 0; i < way.programs.size(); ++i) {
      const ProgramShare& share = way.programs[i];
      json.object().field("name", question.programs[i].name).field("bound", advice.bounds[i]);
      add_spread(json, "kept", share.kept);
      if (share.kept_most > 0) add_spread(json, "kept_band", Spread{share.kept_least, share.kept_most});
      add_spread(json, "p99_ms", share.p99_ms);
      add_spread(json, "fps", share.fps);
      json.end();
    }
    json.end().end();
  }
  json.end().key("unknown_rates").array();
  for (const std::string& name : advice.unknown_rates) json.value(name);
  json.end().key("warnings").array();
  for (const std::string& warning : advice.warnings) json.value(warning);
  print_out("{}\n", json.end().end().text());
}

int advise_command(const CommonOptions& common, const AdviseOptions& options) {
  const AdviceQuestion question = question_of(options);
  const Advice advice =
      advise(question, builtin_policies(), Bands::built_in(), static_cast<unsigned>(usable_processors()));
  if (common.json) {
    print_json(question, advice);
  } else if (options.deploy.empty()) {
    put_out(verdict_text(question, advice) + "\n");
    print_table(question, advice);
    print_assumptions(question, advice);
  }
  if (!options.experiment.empty())
    write_file(options.experiment, advice_experiment(question, sharing_ways(question)), options.overwrites);
  if (!options.deploy.empty() && advice.best)
    put_out(deployment(options.deploy, question, advice.ways[*advice.best].way));
  return advice.verdict == Verdict::kShare || advice.verdict == Verdict::kApart ? 0 : kExitExpectation;
}

}  // namespace

void add_advise(Commands& commands) {
  auto [command, options] = commands.add(
      "advise", "Say whether captured programs may share a GPU, in which way, and what each gets", &advise_command);
  command.option("CAPTURE", &options.traces, "A capture of each program; two at least").required();
  command.option("--gpu", &options.gpu, "The GPU: a built-in device").shows_default("h200");
  command.option("--solo-rate", &options.rates, "PROGRAM=RATE: its steps per second alone and untraced").repeatable();
  command.option("--pacing", &options.pacings, "PROGRAM=60fps: of a game").repeatable();
  command.option("--keep", &options.kept, "PROGRAM=0.9: it must keep so much of its rate alone").repeatable();
  command.option("--p99", &options.p99, "PROGRAM=30ms: most for its 99th percentile").repeatable();
  command.option("--fps", &options.fps, "PROGRAM=60: least frames per second").repeatable();
  command.flag("--most-work", &options.is_for_most_work, "Look for most work in all, not for the fairest way");
  command.option("--modes", &options.modes, "Ways to try: time_sliced,mps,mps_split,mig; all if not given")
      .comma_separated();
  command.option("--write", &options.experiment, "Write the experiment that was tried to this file")
      .shows_value("FILE");
  command.flag("-f,--force", &options.overwrites, "Overwrite an existing file");
  command.option("--deploy", &options.deploy, "Print what sets up the best way: mps, kubernetes, mig, live")
      .shows_value("KIND");
}

}  // namespace corun
