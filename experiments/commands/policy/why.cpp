#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "experiments/results/file.h"
#include "experiments/results/results.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"

namespace corun {

namespace {

struct WhyOptions {
  std::string run;  ///< FILE, FILE:POLICY or FILE:ID
  std::string client;
  std::string time;  ///< since the run began, with its unit
};

struct Run {
  std::string id, scenario, policy;
  std::int64_t seed = 0;
  std::int64_t horizon_ns = 0;
  std::optional<std::int64_t> holds_until_ns;
};

/// What was the matter with the client at the instant asked about.
struct Answer {
  Run run;
  std::string state;  ///< "held", "restoring", "refused", "not held", "not recorded", "run is over"
  std::string rule, unit;
  double needed = 0, available = 0;
  std::int64_t since_ns = 0;
  std::optional<std::int64_t> until_ns;  ///< none: the run ended before
};

class Results {
 public:
  explicit Results(const std::string& path) : path_(path), database_(path, SQLite::OPEN_READONLY) {
    const int version = database_.execAndGet("PRAGMA user_version").getInt();
    if (version < kResultsVersion)
      throw Error(ErrorKind::kInput, {path}, fmt::format("results of schema {} do not record holds", version),
                  "run the experiment again");
  }

  /// The runs of a policy or id; without a name, of the first seed of every scenario and policy.
  std::vector<Run> runs(const std::string& wanted) {
    std::vector<Run> found;
    SQLite::Statement row(database_,
                          "SELECT id, scenario, policy, seed, horizon_ns, holds_until_ns FROM runs "
                          "WHERE error IS NULL "
                          "ORDER BY rowid");
    while (row.executeStep()) {
      Run run{row.getColumn(0), row.getColumn(1), row.getColumn(2), row.getColumn(3), row.getColumn(4), std::nullopt};
      if (!row.getColumn(5).isNull()) run.holds_until_ns = row.getColumn(5).getInt64();
      const bool is_named = run.policy == wanted || (!wanted.empty() && run.id.starts_with(wanted));
      const bool is_first = std::ranges::none_of(
          found, [&](const Run& r) { return r.policy == run.policy && r.scenario == run.scenario; });
      if (wanted.empty() ? is_first : is_named) found.push_back(std::move(run));
    }
    return found;
  }

  bool knows(const Run& run, const std::string& client) {
    SQLite::Statement row(database_, "SELECT 1 FROM metrics WHERE run = ? AND client = ? LIMIT 1");
    row.bind(1, run.id);
    row.bind(2, client);
    return row.executeStep();
  }

  std::vector<std::string> clients() {
    std::vector<std::string> names;
    SQLite::Statement row(database_, "SELECT DISTINCT client FROM metrics WHERE client <> 'device' ORDER BY client");
    while (row.executeStep()) names.push_back(row.getColumn(0).getString());
    return names;
  }

  Answer ask(const Run& run, const std::string& client, std::int64_t time_ns) {
    Answer answer{.run = run, .state = "not held", .rule = "", .unit = "", .until_ns = {}};
    if (time_ns >= run.horizon_ns) answer.state = "run is over";
    if (time_ns >= run.horizon_ns) return answer;
    const auto bind = [&](SQLite::Statement& row) -> SQLite::Statement& {
      row.bind(1, run.id);
      row.bind(2, client);
      row.bind(3, time_ns);
      return row;
    };
    SQLite::Statement refusal(database_,
                              "SELECT rule, needed, available, unit, time_ns, time_ns FROM refusals "
                              "WHERE run = ? AND client = ? AND time_ns <= ?");
    if (bind(refusal).executeStep()) return filled(answer, "refused", refusal);
    SQLite::Statement kill(database_,
                           "SELECT 'restoring', 0, 0, '', time_ns, restored_ns FROM kills "
                           "WHERE run = ? AND client = ? AND time_ns <= ?3 AND coalesce(restored_ns > ?3, 1)");
    if (bind(kill).executeStep()) return filled(answer, "restoring", kill);
    SQLite::Statement hold(database_,
                           "SELECT rule, needed, available, unit, begin_ns, end_ns FROM holds "
                           "WHERE run = ? AND client = ? AND begin_ns <= ?3 AND end_ns > ?3");
    if (bind(hold).executeStep()) return filled(answer, "held", hold);
    if (run.holds_until_ns && time_ns >= *run.holds_until_ns) answer.state = "not recorded";
    return answer;
  }

 private:
  static Answer filled(Answer answer, const char* state, SQLite::Statement& row) {
    answer.state = state;
    answer.rule = row.getColumn(0).getString();
    answer.needed = row.getColumn(1).getDouble();
    answer.available = row.getColumn(2).getDouble();
    answer.unit = row.getColumn(3).getString();
    answer.since_ns = row.getColumn(4).getInt64();
    if (!row.getColumn(5).isNull()) answer.until_ns = row.getColumn(5).getInt64();
    return answer;
  }

  std::string path_;
  SQLite::Database database_;
};

std::string amount(double value, const std::string& unit) {
  if (unit.empty()) return "";
  if (unit == "ns") return format_duration(Duration{static_cast<std::int64_t>(value)});
  return fmt::format("{:.6g} {}", value, unit);
}

std::string instant(std::int64_t ns) { return fmt::format("{:.6f} s", static_cast<double>(ns) * 1e-9); }

void print_table(const CommonOptions& common, const std::vector<Answer>& answers) {
  std::vector<std::vector<std::string>> rows = {
      {"scenario", "policy", "seed", "state", "rule", "needs", "there is", "since", "until"}};
  for (const Answer& a : answers) {
    const bool has_numbers = a.needed != 0 || a.available != 0;
    const bool has_span = a.state == "held" || a.state == "restoring";
    rows.push_back({a.run.scenario, a.run.policy, fmt::format("{}", a.run.seed), a.state, a.rule,
                    has_numbers ? amount(a.needed, a.unit) : "", has_numbers ? amount(a.available, a.unit) : "",
                    has_span || a.state == "refused" ? instant(a.since_ns) : "",
                    has_span && a.until_ns ? instant(*a.until_ns) : ""});
  }
  put_out(aligned(rows, {}, common.out.table_width()));
  for (const Answer& a : answers)
    if (a.state == "not recorded")
      print_out("{}: kept up to {} only; `record: {{ decisions: all }}` keeps all\n", a.run.policy,
                instant(*a.run.holds_until_ns));
}

void print_json(const std::vector<Answer>& answers) {
  Json json;
  json.object().field("schema_version", 1).key("answers").array();
  for (const Answer& a : answers) {
    json.object().field("run", a.run.id).field("scenario", a.run.scenario).field("policy", a.run.policy);
    json.field("seed", a.run.seed).field("state", a.state).field("rule", a.rule);
    json.field("needed", a.needed).field("available", a.available).field("unit", a.unit);
    json.field("since_ns", a.since_ns)
        .field("until_ns", a.until_ns.value_or(a.state == "restoring" ? a.run.horizon_ns : 0))
        .end();
  }
  json.end().end();
  print_out("{}\n", json.text());
}

/// "FILE:RUN" in two, where FILE exists and "FILE:RUN" does not.
std::pair<std::string, std::string> file_and_run(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (std::filesystem::exists(text) || colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

int policy_why_command(const CommonOptions& common, const WhyOptions& options) {
  const auto [file, wanted] = file_and_run(options.run);
  if (!std::filesystem::exists(file)) throw_input({file}, "there is no such results file");
  const auto time = parse_duration(options.time);
  if (!time || *time < Duration::zero()) throw_input({}, "`{}` is no instant of a run; for example 1.5s", options.time);
  std::vector<Answer> answers;
  std::vector<std::string> clients;
  try {
    Results results(file);
    const std::vector<Run> runs = results.runs(wanted);
    if (runs.empty() && wanted.empty()) throw_input({file}, "all of its runs failed");
    if (runs.empty()) throw_input({file}, "no run or policy `{}` in it", wanted);
    for (const Run& run : runs)
      if (results.knows(run, options.client)) answers.push_back(results.ask(run, options.client, to_ns(*time)));
    clients = results.clients();
  } catch (const SQLite::Exception& failure) {
    throw_input({file}, "these are no results of simcli: {}", reason(failure));
  }
  if (answers.empty())
    throw Error(ErrorKind::kInput, {file}, fmt::format("no run in it has a client `{}`", options.client),
                fmt::format("there are: {}", fmt::join(clients, ", ")));
  if (common.json) {
    print_json(answers);
  } else {
    print_table(common, answers);
  }
  return 0;
}

}  // namespace

void add_policy_why(Commands& commands) {
  auto [command, options] =
      commands.add("why", "Show which rule held a client back at an instant of a run", &policy_why_command);
  command.option("RUN", &options.run, "Results file; FILE:POLICY or FILE:ID picks runs of it").required();
  command.option("CLIENT", &options.client, "Its name").required();
  command.option("TIME", &options.time, "Since the run began: 1.5s").required();
}

}  // namespace corun
