#include "experiments/validate/session.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "experiments/hash.h"
#include "tests/validate/stand_in.h"

namespace corun::validation {
namespace {

using testing::kMixes;
using testing::Question;
using testing::stand_in;
using testing::TemporaryFolder;

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> query(const std::string& results, const std::string& sql) {
  SQLite::Database database(results, SQLite::OPEN_READONLY);
  SQLite::Statement statement(database, sql);
  std::vector<std::string> rows;
  while (statement.executeStep()) {
    std::string row;
    for (int i = 0; i < statement.getColumnCount(); ++i) row += statement.getColumn(i).getString() + "|";
    rows.push_back(row);
  }
  return rows;
}

class Sessions : public ::testing::Test {
 protected:
  SessionOptions options(const std::string& name) const {
    SessionOptions out;
    static_cast<ValidationOptions&>(out) = testing::quickly(2);
    out.output = folder_ / (name + ".sqlite");
    out.report = folder_ / (name + ".md");
    out.progress = ProgressStyle::kNone;
    return out;
  }

  TemporaryFolder folder_;
  Question question_{kMixes};
};

TEST_F(Sessions, PredictionsLieOnTheDiskBeforeTheFirstMeasurement) {
  const SessionOptions its = options("one");
  Session session(question_.experiment, question_.policies, its);
  int runs = 0;
  World world = stand_in();
  world.run = [&, run = world.run](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
    if (runs++ == 0) {
      const std::string published = text_of(session.predictions_path());
      EXPECT_NE(published.find("\"scenario\": \"pair\""), std::string::npos);
      EXPECT_EQ(query(its.output, "SELECT sha256 FROM validation_predictions"),
                std::vector<std::string>{sha256(published) + "|"});
    }
    return run(input, recorder, notes);
  };
  session.predict();
  session.measure(world);
  session.score();
  EXPECT_EQ(runs, 2 * 3 + 2 * 3);
  EXPECT_NE(text_of(its.report).find(sha256(text_of(session.predictions_path()))), std::string::npos);
}

TEST_F(Sessions, ScoringAgainGivesTheSameScores) {
  const SessionOptions first = options("first");
  Session session(question_.experiment, question_.policies, first);
  session.predict();
  session.measure(stand_in([](RunInput& input) { input.device.switch_cost += Duration{50'000}; }));
  session.score();

  SessionOptions again = options("again");
  again.measured = {first.output};
  Session later(question_.experiment, question_.policies, again);
  later.predict();
  later.score();
  for (const char* table : {"validation", "validation_nulls"}) {
    const std::string sql = fmt::format("SELECT * FROM {}", table);
    EXPECT_EQ(query(first.output, sql), query(again.output, sql));
    EXPECT_FALSE(query(first.output, sql).empty());
  }
  EXPECT_NE(text_of(again.report).find("those that were published before the measurements"), std::string::npos);
}

TEST_F(Sessions, PredictionsMadeAfterTheMeasurementAreCalledThat) {
  const SessionOptions first = options("first");
  Session session(question_.experiment, question_.policies, first);
  session.predict();
  session.measure(stand_in());
  session.score();

  SessionOptions again = options("again");
  again.measured = {first.output};
  std::string text = kMixes;
  text.replace(text.find("device: h200"), 12, "device: { model: h200, switch_cost: 400us }");
  const Question tuned(text);
  Session later(tuned.experiment, tuned.policies, again);
  later.predict();
  later.score();
  EXPECT_NE(text_of(again.report).find("this is no blind test"), std::string::npos);
}

TEST_F(Sessions, EveryRunIsKeptWithItsWorld) {
  const SessionOptions its = options("one");
  Session session(question_.experiment, question_.policies, its);
  session.predict();
  session.measure(stand_in());
  session.score();
  EXPECT_EQ(query(its.output, "SELECT backend, count(*) FROM runs GROUP BY backend ORDER BY backend"),
            (std::vector<std::string>{"simulation|18|", "stand-in|12|"}))
      << "6 cells with 3 seeds; 3 cells twice between 3 solos before and after";
  EXPECT_EQ(query(its.output, "SELECT count(*) FROM validation WHERE verdict = 'missing'"),
            std::vector<std::string>{"0|"});
}

TEST_F(Sessions, NothingIsSimulatedWhereTheOutputIsInTheWay) {
  const SessionOptions its = options("one");
  { std::ofstream(its.output) << "something else"; }
  EXPECT_THROW(Session(question_.experiment, question_.policies, its), Error);
  EXPECT_EQ(text_of(its.output), "something else");
}

TEST_F(Sessions, AFileWithoutMeasurementsIsRefused) {
  const SessionOptions first = options("first");
  Session session(question_.experiment, question_.policies, first);
  session.predict();
  session.close();
  SessionOptions again = options("again");
  again.measured = {first.output};
  EXPECT_THROW(Session(question_.experiment, question_.policies, again), Error);
}

}  // namespace
}  // namespace corun::validation
