#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "experiments/results/results.h"
#include "experiments/results/write_lock.h"
#include "experiments/run/execution_backend.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::kTinyExperiment;
using testing::TemporaryFolder;

/// Throws what its parameter says at its first decision.
class Faulty : public Policy {
 public:
  explicit Faulty(bool is_illegal) : is_illegal_(is_illegal) {}
  void decide(const GpuView&, Actions& actions) override {
    if (!is_illegal_) throw std::runtime_error("out of ideas");
    actions.open(ClientId{77});
  }

 private:
  bool is_illegal_;
};

PolicyDescriptor faulty(const std::string& name, bool is_illegal) {
  PolicyDescriptor descriptor;
  descriptor.name = name;
  descriptor.create = [=](const Parameters&) { return std::make_unique<Faulty>(is_illegal); };
  return descriptor;
}

/// Runs a text into a results file.
class Laboratory {
 public:
  explicit Laboratory(const std::string& text, const ExperimentOverrides& overrides = {}) {
    add_builtin_policies(policies_);
    policies_.add(faulty("throws", false));
    policies_.add(faulty("illegal", true));
    experiment_ = read_experiment(testing::write_text(folder_, "e.yaml", text), overrides, policies_);
    plan_ = make_plan(experiment_);
  }

  std::size_t run(const std::string& output, unsigned jobs, const std::atomic<bool>* stop = nullptr) {
    RunInputs run_inputs(experiment_, plan_.hashes, policies_);
    run_inputs.check();
    ResultsWriter results(folder_ / output, true);
    const RunnerOptions options{jobs, stop, {}};
    const std::size_t delivered =
        run_plan(experiment_, plan_, run_inputs, policies_, options,
                 [&](const RunSpec& s, const RunOutcome& o) { results.write(experiment_, plan_.hashes, s, o); });
    results.close();
    return delivered;
  }

  /// Every value of a query, a line a row.
  std::vector<std::string> query(const std::string& output, const std::string& sql) {
    SQLite::Database database(folder_ / output, SQLite::OPEN_READONLY);
    SQLite::Statement statement(database, sql);
    std::vector<std::string> rows;
    while (statement.executeStep()) {
      std::string row;
      for (int i = 0; i < statement.getColumnCount(); ++i) row += statement.getColumn(i).getString() + "|";
      rows.push_back(row);
    }
    return rows;
  }

  std::vector<std::string> everything(const std::string& output) {
    std::vector<std::string> all;
    for (const char* sql :
         {"SELECT id, experiment, scenario, policy, parameters, seed, backend, engine_version, device, trace_hashes, "
          "horizon_ns, warmup_ns, events, error, notes FROM runs",
          "SELECT *, hex(value) FROM metrics", "SELECT * FROM frames", "SELECT * FROM decisions",
          "SELECT * FROM operations"})
      for (std::string& row : query(output, sql)) all.push_back(std::move(row));
    return all;
  }

  const Plan& plan() const { return plan_; }
  const Experiment& experiment() const { return experiment_; }
  const TemporaryFolder& folder() const { return folder_; }
  const PolicyRegistry& policies() const { return policies_; }

 private:
  TemporaryFolder folder_;
  PolicyRegistry policies_;
  Experiment experiment_;
  Plan plan_;
};

TEST(Plan, RunsAreScenariosTimesPoliciesTimesSeedsInThatOrder) {
  const Laboratory lab(kTinyExperiment);
  ASSERT_EQ(lab.plan().runs.size(), 6U);
  EXPECT_EQ(lab.plan().runs[0].policy, 0U);
  EXPECT_EQ(lab.plan().runs[2].seed, 3U);
  EXPECT_EQ(lab.plan().runs[3].policy, 1U);
}

TEST(Plan, ARunIdIsTheHashOfWhatDecidesTheRun) {
  const Laboratory one(kTinyExperiment),
      same(std::string("# a comment\n") + kTinyExperiment + "description: other words\n");
  std::set<std::string> ids;
  for (std::size_t i = 0; i < one.plan().runs.size(); ++i) {
    EXPECT_EQ(one.plan().runs[i].id, same.plan().runs[i].id);
    EXPECT_EQ(one.plan().runs[i].id.size(), 32U);
    ids.insert(one.plan().runs[i].id);
  }
  EXPECT_EQ(ids.size(), 6U);
  for (const char* change : {"horizon=501ms", "device.switch_cost=1us", "clients.game.duration_jitter=6%",
                             "clients.load.arrival=1ms", "clients.game.synthetic.game.gpu=4.1ms", "warmup=1ms"}) {
    const Laboratory changed(kTinyExperiment, {{change}, {}, {}});
    EXPECT_NE(changed.plan().runs[0].id, one.plan().runs[0].id) << change;
  }
}

TEST(Plan, DefaultsWrittenOutGiveTheSameRun) {
  const Laboratory implied(kTinyExperiment);
  const Laboratory stated(kTinyExperiment,
                          {{"warmup=50ms", "device={model: h200, time_slice: 2.097152ms}", "clients.game.replay=closed",
                            "clients.load.replay=open", "clients.game.repeat=forever", "clients.game.phase=random"},
                           {},
                           {}});
  EXPECT_EQ(implied.plan().runs[0].id, stated.plan().runs[0].id);
}

TEST(Plan, TheContentOfATraceCountsAndItsNameDoesNot) {
  const TemporaryFolder folder;
  const auto id = [&](const std::string& name, const std::string& content) {
    testing::write_text(folder, name, content);
    const std::string text = fmt::format(
        "name: x\ndevice: h200\npolicies: [passthrough]\nclients: [{{ name: a, trace: {} }}]\n", folder / name);
    return make_plan(testing::read_text(text)).runs[0].id;
  };
  EXPECT_EQ(id("a.json", "{}"), id("b.json", "{}"));
  EXPECT_NE(id("a.json", "{}"), id("c.json", "{ }"));
}

TEST(Plan, AMissingTraceIsAnErrorAtItsPlaceInTheExperiment) {
  try {
    make_plan(testing::read_text(
        "name: x\ndevice: h200\npolicies: [passthrough]\nclients: [{ name: a, trace: none.json }]\n"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where().line, 4U);
    EXPECT_EQ(error.where().column, 29U);
  }
}

TEST(Runner, OneAndManyWorkersGiveTheSameRows) {
  Laboratory lab(std::string(kTinyExperiment) + "record: { operations: all }\n");
  EXPECT_EQ(lab.run("one.sqlite", 1), 6U);
  EXPECT_EQ(lab.run("four.sqlite", 4), 6U);
  const auto one = lab.everything("one.sqlite");
  EXPECT_GT(one.size(), 500U);
  EXPECT_EQ(one, lab.everything("four.sqlite"));
}

TEST(Runner, SeedsMatterAndRepeat) {
  Laboratory lab(kTinyExperiment);
  lab.run("r.sqlite", 2);
  const auto rates = lab.query("r.sqlite",
                               "SELECT DISTINCT value FROM metrics JOIN runs ON run = id WHERE policy = 'passthrough' "
                               "AND client = 'load' AND metric = 'throughput_per_s'");
  EXPECT_EQ(rates.size(), 3U);
}

TEST(Runner, AHostOfTwiceTheSpeedHalvesTheGapsBetweenKernels) {
  const auto jobs_per_s = [](const std::string& speed) {
    Laboratory lab("name: x\ndevice: h200\nhorizon: 1s\npolicies: [passthrough]\nclients:\n  - { name: a, " + speed +
                   "synthetic: { kernels: { duration: 1us, launch_gap: 2ms } }, pacing: sync_each_job }\n");
    lab.run("r.sqlite", 1);
    const auto rates = lab.query("r.sqlite", "SELECT value FROM metrics WHERE metric = 'throughput_per_s'");
    return std::stod(rates.at(0));
  };
  EXPECT_NEAR(jobs_per_s(""), 500, 10);
  EXPECT_NEAR(jobs_per_s("host_speed: 2, "), 1000, 20);
}

TEST(Runner, ALiveRunRefusesAnotherHostThanItsOwn) {
  Scenario scenario;
  ClientChoice& client = scenario.clients.emplace_back();
  client.name = "program";
  client.command.words = {"/bin/true"};
  const ExecutionBackend live{kLiveBackend, {}};
  put_in(live, scenario);
  client.host_speed = 2.0;
  EXPECT_THROW(put_in(live, scenario), Error);
}

TEST(Runner, AFailedRunIsARowAndTheOthersGoOn) {
  Laboratory lab(std::string(kTinyExperiment) +
                 "scenarios: [{ name: s, policies: [throws, passthrough, illegal], seeds: 2 }]\n");
  EXPECT_EQ(lab.run("r.sqlite", 2), 6U);
  const auto rows = lab.query("r.sqlite", "SELECT policy, seed, error FROM runs ORDER BY policy, seed");
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_NE(rows[0].find("illegal"), std::string::npos) << rows[0];
  EXPECT_EQ(rows[2], "passthrough|1||");
  EXPECT_TRUE(rows[4].starts_with("throws|1|policy 'throws' at t=0.")) << rows[4];
  EXPECT_TRUE(rows[4].ends_with(" s threw: out of ideas|")) << rows[4];
  EXPECT_TRUE(lab.query("r.sqlite", "SELECT 1 FROM metrics JOIN runs ON run = id WHERE error IS NOT NULL").empty());
}

TEST(Runner, APolicyThatLacksWhatItNeedsIsRefusedBeforeAnythingRuns) {
  Laboratory lab(std::string(kTinyExperiment) + "scenarios: [{ name: s, policies: [djay] }]\n");
  try {
    lab.run("r.sqlite", 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(error.message().find("quality levels"), std::string::npos);
    EXPECT_NE(error.help().find("quality: default"), std::string::npos);
  }
}

TEST(Runner, AStopKeepsWhatIsDone) {
  Laboratory lab(kTinyExperiment);
  const std::atomic<bool> stop{true};
  EXPECT_EQ(lab.run("r.sqlite", 2, &stop), 0U);
  EXPECT_TRUE(lab.query("r.sqlite", "SELECT * FROM runs").empty());
}

TEST(Runner, RecordsWhatTheExperimentAsksFor) {
  Laboratory all(std::string(kTinyExperiment) + "record: { frames: all, operations: all, decisions: first 3 }\n");
  all.run("r.sqlite", 1);
  EXPECT_EQ(all.query("r.sqlite", "SELECT max(n) FROM (SELECT count(*) n FROM decisions GROUP BY run)"),
            std::vector<std::string>{"3|"});
  EXPECT_FALSE(all.query("r.sqlite", "SELECT * FROM operations LIMIT 1").empty());
  Laboratory none(std::string(kTinyExperiment) + "record: { frames: none, operations: none, decisions: none }\n");
  none.run("r.sqlite", 1);
  for (const char* table : {"frames", "operations", "decisions"})
    EXPECT_TRUE(none.query("r.sqlite", fmt::format("SELECT * FROM {} LIMIT 1", table)).empty()) << table;
}

TEST(Runner, ExclusiveHarvestsNothingAndPassthroughServesTheLoad) {
  Laboratory lab(kTinyExperiment);
  lab.run("r.sqlite", 2);
  const auto harvest = lab.query("r.sqlite",
                                 "SELECT policy, avg(value) > 0.1 FROM metrics JOIN runs ON run = id WHERE metric = "
                                 "'harvest_ratio' GROUP BY policy");
  EXPECT_EQ(harvest, (std::vector<std::string>{"exclusive|0|", "passthrough|1|"}));
}

TEST(Results, AnExistingFileIsKeptUnlessToldOtherwise) {
  const TemporaryFolder folder;
  const std::string path = folder / "new/folder/r.sqlite";
  ResultsWriter(path, false).close();
  EXPECT_THROW(ResultsWriter(path, false), Error);
  EXPECT_NO_THROW(ResultsWriter(path, true).close());
}

TEST(Results, OnlyResultsAreEverReplaced) {
  const TemporaryFolder folder;
  const std::string letter = testing::write_text(folder, "letter.txt", "dear reader");
  EXPECT_THROW(ResultsWriter(letter, true), Error);
  EXPECT_THROW(ResultsWriter(folder.path().string(), true), Error);
  EXPECT_EQ(std::filesystem::file_size(letter), 11U);
}

TEST(Results, OneFileRemainsAndSaysItsVersion) {
  Laboratory lab(kTinyExperiment);
  lab.run("r.sqlite", 1);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(lab.folder().path()))
    files += entry.path().filename().string().starts_with("r.sqlite");
  EXPECT_EQ(files, 1U);
  EXPECT_EQ(lab.query("r.sqlite", "PRAGMA user_version"), std::vector<std::string>{"2|"});
  EXPECT_EQ(lab.query("r.sqlite", "PRAGMA journal_mode"), std::vector<std::string>{"delete|"});
  EXPECT_EQ(lab.query("r.sqlite", "PRAGMA integrity_check"), std::vector<std::string>{"ok|"});
}

TEST(WriteLock, IsOfTheFileThatThePathLeadsToThoughOthersRemoveIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "r.sqlite";
  std::atomic<int> holders{0}, most{0}, gone{0}, times{0};
  const auto lock_and_remove = [&] {
    for (int i = 0; i < 5000; ++i) try {
        const WriteLock lock(path);
        most = std::max(most.load(), ++holders);
        gone += std::filesystem::exists(path) ? 0 : 1;
        --holders;
        std::filesystem::remove(path);
        ++times;
      } catch (const Error& refused) {
        EXPECT_EQ(refused.kind(), ErrorKind::kInput);
      }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(lock_and_remove);
  }
  EXPECT_GT(times, 0);
  EXPECT_EQ(gone, 0) << "only who has the lock removes the file";
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace corun
