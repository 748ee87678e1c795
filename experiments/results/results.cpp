#include "experiments/results/results.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "experiments/results/file.h"
#include "experiments/results/write_lock.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::chrono::seconds kLongestUnsynced{1};
constexpr double kLongRunS = 0.1;

std::string parameters_text(const PolicyChoice& policy) {
  std::string text;
  for (const auto& [name, value] : policy.parameters.values())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, format_parameter(value));
  for (const auto& [at, name, value] : policy.adjustments)
    text += fmt::format(", {}: {} from {}", name, format_parameter(value), format_duration(at));
  return text;
}

std::string trace_hashes_text(const Scenario& scenario, const FileHashes& hashes) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& path) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, hashes.at(path));
  };
  for (const ClientChoice& client : scenario.clients)
    for (const auto& [label, file] : files_of(client)) add(label, file.path);
  if (scenario.cluster && !scenario.cluster->nodes_file.empty()) add("nodes", scenario.cluster->nodes_file);
  if (scenario.cluster && !scenario.cluster->pods_file.empty()) add("pods", scenario.cluster->pods_file);
  return text;
}

const std::string& name_of(const Scenario& scenario, const RunOutcome& outcome, ClientId id) {
  const std::size_t stated = scenario.clients.size();
  return id.value < stated ? scenario.clients[id.value].name : outcome.readers[id.value - stated];
}

/// Binds one row after the other to a statement, in the order of its columns.
class Row {
 public:
  explicit Row(SQLite::Statement& statement) : statement_(statement) {}
  Row& operator<<(std::string_view text) {
    statement_.bind(++column_, std::string(text));
    return *this;
  }
  Row& operator<<(const std::string& text) { return *this << std::string_view(text); }
  Row& operator<<(const char* text) { return *this << std::string_view(text); }
  Row& operator<<(std::monostate) {
    ++column_;  // stays unbound: NULL
    return *this;
  }
  Row& operator<<(double value) {
    statement_.bind(++column_, value);
    return *this;
  }
  template <class Integer>
  requires std::is_integral_v<Integer> Row& operator<<(Integer value) {
    statement_.bind(++column_, static_cast<std::int64_t>(value));
    return *this;
  }
  Row& operator<<(const Cell& cell) {
    std::visit([this](const auto& value) { *this << value; }, cell);
    return *this;
  }
  Row& operator<<(Time time) { return *this << to_ns(time); }
  Row& operator<<(Duration duration) { return *this << to_ns(duration); }
  void done() {
    statement_.exec();
    statement_.reset();
    statement_.clearBindings();
  }

 private:
  SQLite::Statement& statement_;
  int column_ = 0;
};

}  // namespace

/// The database with its statements.
class ResultsWriter::Store {
 public:
  explicit Store(const std::string& path) : lock_(path), database_(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    // Tables and plan are there at once or not at all, whatever ends the program.
    if (!database_.tableExists("runs")) {
      SQLite::Transaction transaction(database_);
      database_.exec(
          fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", kResultsApplicationId, kResultsVersion));
      database_.exec(kResultsSchema);
      transaction.commit();
    }
    database_.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
  }

  /// Of a file whose runs are to be those of `plan`: written, or compared with what is there.
  void begin(const std::string& path, const StoredPlan& plan) {
    const StoredPlan known = stored_plan(database_);
    const bool has_runs = database_.execAndGet("SELECT count(*) FROM runs").getInt64() > 0;
    if (known.empty() && !has_runs) return write_plan(plan);
    std::string what = known.empty() ? "it was written without a plan" : difference(known, plan);
    if (what.empty() && known.properties != plan.properties) what = shards(known, plan);
    if (!what.empty())
      throw Error(ErrorKind::kInput, {path}, fmt::format("these results cannot be resumed: {}", what),
                  "the same experiment, options and version resume a file; `-f` replaces it, `-o` names another one");
    SQLite::Transaction transaction(database_);
    database_.exec("DELETE FROM properties WHERE key = 'hash'");
    remove_runs_without_memory();
    transaction.commit();
  }

  std::size_t retried() const { return retried_; }

  std::map<std::string, RunOutcome> completed_runs() { return stored_outcomes(database_); }

  void write(const StoredRun& run) {
    SQLite::Transaction transaction(database_);
    for (std::size_t i = 0; i < kRunTables.size(); ++i) insert(kRunTables[i], run.tables[i]);
    transaction.commit();
    sync_after(0.0);
  }

  void write(const Experiment& experiment, const FileHashes& hashes, const RunSpec& spec, const RunOutcome& outcome) {
    SQLite::Transaction transaction(database_);
    const Scenario& scenario = experiment.scenarios[spec.scenario];
    write_run(experiment, scenario, hashes, spec, outcome);
    const auto name = [&](ClientId id) -> const std::string& { return name_of(scenario, outcome, id); };
    SQLite::Statement metric(database_, "INSERT INTO metrics VALUES (?,?,?,?,?)");
    for (const Metric& m : outcome.metrics) (Row(metric) << spec.id << m.client << m.name << m.value << m.unit).done();
    SQLite::Statement frame(database_, "INSERT INTO frames VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    for (const FrameFact& f : outcome.frames)
      (Row(frame) << spec.id << name(f.client) << f.number << f.start << f.submit << f.gpu_begin << f.gpu_end
                  << f.present << f.gpu_busy << f.quality_level << f.quality << f.missed)
          .done();
    SQLite::Statement decision(database_, "INSERT INTO decisions VALUES (?,?,?,?,?,?,?,?,?)");
    std::uint64_t seq = 0;
    for (const DecisionFact& d : outcome.decisions)
      (Row(decision) << spec.id << seq++ << d.time << to_string(d.action.kind) << name(d.action.client)
                     << d.action.count << d.action.duration << d.action.level << d.action.fraction)
          .done();
    write_holds(scenario, spec, outcome);
    SQLite::Statement operation(database_, "INSERT INTO operations VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    for (const OperationRow& o : outcome.operations)
      (Row(operation) << spec.id << name(o.fact.client) << o.fact.number << o.fact.job << o.fact.stream.value
                      << to_string(o.fact.kind) << o.name << o.fact.submitted << o.fact.launched << o.fact.begin
                      << o.fact.end << o.fact.device_time)
          .done();
    write_pods(spec, outcome);
    if (!outcome.requests.empty() && database_.tableExists(kRequestsTable)) write_requests(scenario, spec, outcome);
    transaction.commit();
    sync_after(outcome.wall_time_s);
  }

  void close() {
    for (const char* table : {"metrics", "frames", "decisions", "operations", "holds", "pods", kRequestsTable})
      if (database_.tableExists(table))
        database_.exec(fmt::format("CREATE INDEX IF NOT EXISTS {0}_by_run ON {0}(run)", table));
    if (is_complete())
      database_.exec(fmt::format("INSERT OR REPLACE INTO properties VALUES ('hash', '{}')", results_hash(database_)));
    // The log's NORMAL would sync the rollback journal once with its header, and its checksum skips most bytes: without
    // power, half a journal could be played back.
    database_.exec("PRAGMA synchronous=FULL;");
    // A reader that still has the file open keeps its journal; the results are whole either way.
    if (const int code = database_.tryExec("PRAGMA journal_mode=DELETE;"); code != SQLITE_OK && code != SQLITE_BUSY)
      throw SQLite::Exception(database_.getHandle(), code);
  }

 private:
  /// A commit is not on the disk before the journal is synced. Syncing takes longer than a short run does, so those
  /// wait for one another.
  void sync_after(double run_took_s) {
    const auto now = std::chrono::steady_clock::now();
    if (run_took_s < kLongRunS && now - synced_ < kLongestUnsynced) return;
    database_.exec("PRAGMA wal_checkpoint(PASSIVE)");
    synced_ = now;
  }

  void write_plan(const StoredPlan& plan) {
    SQLite::Transaction transaction(database_);
    insert("planned_runs", plan.planned_runs);
    insert("points", plan.points);
    insert("experiments", plan.experiments);
    insert("expectations", plan.expectations);
    if (database_.tableExists("error_classes")) insert("error_classes", plan.error_classes);  // older files have none
    if (database_.tableExists("mechanisms")) insert("mechanisms", plan.mechanisms);
    Rows properties;
    for (const auto& [key, value] : plan.properties) properties.push_back({key, value});
    insert("properties", properties);
    transaction.commit();
  }

  void remove_runs_without_memory() {
    for (std::size_t i = kRunTables.size(); i-- > 0;) {  // `runs`, which says which they are, is the first
      if (!database_.tableExists(kRunTables[i])) continue;
      const std::string their = i == 0 ? "error = ?" : "run IN (SELECT id FROM runs WHERE error = ?)";
      SQLite::Statement statement(database_, fmt::format("DELETE FROM {} WHERE {}", kRunTables[i], their));
      statement.bind(1, kOutOfMemory);
      retried_ = static_cast<std::size_t>(statement.exec());
    }
  }

  static std::string shards(const StoredPlan& known, const StoredPlan& plan) {
    const auto name = [](const StoredPlan& stored) {
      return stored.shard() ? "shard " + stored.shard()->to_string() : "the whole";
    };
    return fmt::format("they are {}, not {}", name(known), name(plan));
  }

  bool is_complete() {
    const StoredPlan plan = stored_plan(database_);
    const Shard shard = plan.shard().value_or(Shard{});
    const std::size_t planned = plan.runs().size();
    const std::size_t wanted = planned / shard.count + (planned % shard.count >= shard.index ? 1 : 0);
    return !plan.empty() &&
           database_.execAndGet("SELECT count(*) FROM runs").getInt64() == static_cast<std::int64_t>(wanted);
  }

  void insert(const std::string& table, const Rows& rows) {
    if (rows.empty()) return;
    std::string places = "?";
    for (std::size_t i = 1; i < rows[0].size(); ++i) places += ",?";
    SQLite::Statement statement(database_, fmt::format("INSERT INTO {} VALUES ({})", table, places));
    for (const std::vector<Cell>& cells : rows) {
      Row row(statement);
      for (const Cell& cell : cells) row << cell;
      row.done();
    }
  }

  void write_run(const Experiment& experiment, const Scenario& scenario, const FileHashes& hashes, const RunSpec& spec,
                 const RunOutcome& outcome) {
    const PolicyChoice& policy = scenario.policies[spec.policy];
    SQLite::Statement run(database_, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    Row row(run);
    row << spec.id << experiment.name << scenario.name << policy.label << parameters_text(policy) << spec.seed
        << scenario.backend << engine_version() << scenario.device.name << trace_hashes_text(scenario, hashes)
        << scenario.horizon << scenario.warmup_or_default() << outcome.wall_time_s << outcome.events;
    if (outcome.error) run.bind(15, std::string(outcome.error->what()));
    run.bind(16, outcome.notes);
    if (outcome.holds_until != kNever) run.bind(17, to_ns(outcome.holds_until));
    row.done();
  }

  void write_requests(const Scenario& scenario, const RunSpec& spec, const RunOutcome& outcome) {
    SQLite::Statement request(database_, "INSERT INTO requests VALUES (?,?,?,?,?,?,?,?)");
    for (const RequestFact& r : outcome.requests)
      (Row(request) << spec.id << name_of(scenario, outcome, r.client) << r.number << r.arrival << r.first_token
                    << r.end << r.prompt << r.output)
          .done();
  }

  void write_holds(const Scenario& scenario, const RunSpec& spec, const RunOutcome& outcome) {
    const auto name = [&](ClientId id) -> const std::string& { return name_of(scenario, outcome, id); };
    SQLite::Statement hold(database_, "INSERT INTO holds VALUES (?,?,?,?,?,?,?,?)");
    for (const HoldFact& h : outcome.holds)
      (Row(hold) << spec.id << name(h.client) << h.begin << h.end << h.hold.rule << h.hold.needed << h.hold.available
                 << h.hold.unit)
          .done();
    SQLite::Statement kill(database_, "INSERT INTO kills VALUES (?,?,?,?,?)");
    for (const KillFact& k : outcome.kills) {
      Row row(kill);
      row << spec.id << name(k.client) << k.time << k.lost;
      if (k.restored != kNever) row << k.restored;
      row.done();
    }
    SQLite::Statement refusal(database_, "INSERT INTO refusals VALUES (?,?,?,?,?,?,?)");
    for (const RefusalFact& r : outcome.refusals)
      (Row(refusal) << spec.id << name(r.client) << r.time << r.reason.rule << r.reason.needed << r.reason.available
                    << r.reason.unit)
          .done();
  }

  void write_pods(const RunSpec& spec, const RunOutcome& outcome) {
    SQLite::Statement row(database_, "INSERT INTO pods VALUES (?,?,?,?,?,?,?,?,?,?)");
    for (const PodFact& pod : outcome.pods) {
      Row(row) << spec.id << pod.name << to_string(pod.state) << pod.arrival;
      if (pod.start != kNever) row.bind(5, to_ns(pod.start));
      if (pod.end != kNever) row.bind(6, to_ns(pod.end));
      if (pod.start != kNever) row.bind(7, pod.node);
      if (pod.start != kNever) row.bind(8, fmt::format("{}", fmt::join(pod.placement.cards, " ")));
      if (!pod.client.empty()) row.bind(9, pod.client);
      if (pod.slowdown > 0) row.bind(10, pod.slowdown);
      row.exec();
      row.reset();
      row.clearBindings();
    }
  }

  WriteLock lock_;  // before the database: a file that is being written is not even opened
  SQLite::Database database_;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
  std::size_t retried_ = 0;
};

void check_output(const std::string& path, bool overwrite) {
  check_output(path, overwrite ? IfExists::kReplace : IfExists::kFail);
}

void check_output(const std::string& path, IfExists if_exists) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_regular_file(status))
    throw_input({path}, "the results cannot go here: this is not a regular file");
  if (if_exists == IfExists::kFail)
    throw Error(ErrorKind::kInput, {path}, "the results file exists", "`-f` replaces it, `-o` names another one");
  const bool has_nothing_to_lose = std::filesystem::file_size(path) == 0;
  if (!has_nothing_to_lose && !holds_results(path))
    throw Error(ErrorKind::kInput, {path}, "this file holds something else than results",
                "`-f` replaces results only; `-o` names another file");
}

/// Else the disk or the memory has failed.
static bool is_about_the_path(const SQLite::Exception& failure) {
  constexpr std::array kOfPaths{SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH, SQLITE_NOTADB};
  return std::ranges::find(kOfPaths, failure.getErrorCode()) != kOfPaths.end();
}

ResultsWriter::ResultsWriter(const std::string& path, bool overwrite)
    : ResultsWriter(path, overwrite ? IfExists::kReplace : IfExists::kFail, StoredPlan{}) {}

ResultsWriter::ResultsWriter(const std::string& path, IfExists if_exists, const StoredPlan& plan) : path_(path) {
  check_output(path, if_exists);
  try {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    if (if_exists != IfExists::kResume) {
      const WriteLock nobody_writes(path);
      for (const char* ending : {"-wal", "-shm", "-journal", ""}) std::filesystem::remove(path + ending);
    }
    store_ = std::make_unique<Store>(path);
    store_->begin(path, plan);
  } catch (const SQLite::Exception& failure) {
    throw Error(is_about_the_path(failure) ? ErrorKind::kInput : ErrorKind::kDevice, {path},
                fmt::format("the results file cannot be made: {}", failure.what()));
  } catch (const std::filesystem::filesystem_error& failure) {
    throw Error(ErrorKind::kInput, {path}, fmt::format("the results file cannot be made: {}", failure.what()));
  }
}

ResultsWriter::~ResultsWriter() = default;
ResultsWriter::ResultsWriter(ResultsWriter&&) noexcept = default;

template <class Work>
auto ResultsWriter::on_disk(const char* doing, Work work) {
  try {
    return work();
  } catch (const SQLite::Exception& failure) {
    throw Error(ErrorKind::kDevice, {path_}, fmt::format("{} the results: {}", doing, failure.what()),
                "runs that were written are whole; once the disk is well, the same command does the others: `run` and "
                "`sweep` with `--resume`, `merge` with `-f`");
  }
}

std::map<std::string, RunOutcome> ResultsWriter::completed_runs() {
  return on_disk("reading", [&] { return store_->completed_runs(); });
}
std::size_t ResultsWriter::retried() const { return store_->retried(); }

void ResultsWriter::write(const StoredRun& run) {
  on_disk("writing", [&] { store_->write(run); });
}

void ResultsWriter::write(const Experiment& experiment, const FileHashes& hashes, const RunSpec& spec,
                          const RunOutcome& outcome) {
  on_disk("writing", [&] { store_->write(experiment, hashes, spec, outcome); });
}

void ResultsWriter::close() {
  on_disk("closing", [&] {
    store_->close();
    store_.reset();
  });
}

}  // namespace corun
