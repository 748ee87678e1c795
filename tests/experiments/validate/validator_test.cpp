#include "experiments/validate/validator.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "experiments/base/hash.h"
#include "tests/experiments/validate/stand_in.h"

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

class Validating : public ::testing::Test {
 protected:
  ValidatorOptions options(const std::string& name) const {
    ValidatorOptions out;
    static_cast<ValidationOptions&>(out) = testing::quickly(2);
    out.output = folder_ / (name + ".sqlite");
    out.report = folder_ / (name + ".md");
    out.progress = ProgressStyle::kNone;
    return out;
  }

  TemporaryFolder folder_;
  Question question_{kMixes};
};

TEST_F(Validating, PredictionsLieOnTheDiskBeforeTheFirstMeasurement) {
  const ValidatorOptions its = options("one");
  Validator validator(question_.experiment, question_.policies, its);
  int runs = 0;
  ExecutionBackend backend = stand_in();
  backend.run = [&, run = backend.run](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
    if (runs++ == 0) {
      const std::string published = text_of(validator.predictions_path());
      EXPECT_NE(published.find("\"scenario\": \"pair\""), std::string::npos);
      EXPECT_EQ(query(its.output, "SELECT sha256 FROM validation_predictions"),
                std::vector<std::string>{sha256(published) + "|"});
    }
    return run(input, recorder, notes);
  };
  validator.predict();
  validator.measure(backend);
  validator.score();
  EXPECT_EQ(runs, 2 * 3 + 2 * 3);
  EXPECT_NE(text_of(its.report).find(sha256(text_of(validator.predictions_path()))), std::string::npos);
}

TEST_F(Validating, ScoringAgainGivesTheSameScores) {
  const ValidatorOptions first = options("first");
  Validator validator(question_.experiment, question_.policies, first);
  validator.predict();
  validator.measure(stand_in([](RunInput& input) { input.device.switch_cost += Duration{50'000}; }));
  validator.score();

  ValidatorOptions again = options("again");
  again.measured = {first.output};
  Validator later(question_.experiment, question_.policies, again);
  later.predict();
  later.score();
  for (const char* table : {"validation", "validation_nulls"}) {
    const std::string sql = fmt::format("SELECT * FROM {}", table);
    EXPECT_EQ(query(first.output, sql), query(again.output, sql));
    EXPECT_FALSE(query(first.output, sql).empty());
  }
  EXPECT_NE(text_of(again.report).find("those that were published before the measurements"), std::string::npos);
}

TEST_F(Validating, PredictionsMadeAfterTheMeasurementAreCalledThat) {
  const ValidatorOptions first = options("first");
  Validator validator(question_.experiment, question_.policies, first);
  validator.predict();
  validator.measure(stand_in());
  validator.score();

  ValidatorOptions again = options("again");
  again.measured = {first.output};
  std::string text = kMixes;
  text.replace(text.find("device: h200"), 12, "device: { model: h200, switch_cost: 400us }");
  const Question tuned(text);
  Validator later(tuned.experiment, tuned.policies, again);
  later.predict();
  later.score();
  EXPECT_NE(text_of(again.report).find("this is no blind test"), std::string::npos);
}

TEST_F(Validating, OnePartThatKnewOtherPredictionsMakesTheWholeNoBlindTest) {
  std::string text = kMixes;
  text.replace(text.find("device: h200"), 12, "device: { model: h200, switch_cost: 400us }");
  const Question other(text);
  const ValidatorOptions first = options("first"), second = options("second");
  for (const auto& [question, its] :
       {std::pair<const Question*, const ValidatorOptions*>(&other, &first), {&question_, &second}}) {
    Validator validator(question->experiment, question->policies, *its);
    validator.predict();
    validator.measure(stand_in());
    validator.score();
  }
  ValidatorOptions again = options("again");
  again.measured = {first.output, second.output};
  Validator later(question_.experiment, question_.policies, again);
  later.predict();
  later.score();
  const std::string report = text_of(again.report);
  EXPECT_NE(report.find("this is no blind test"), std::string::npos);
  for (const ValidatorOptions& its : {first, second}) {
    const std::string hash = query(its.output, "SELECT sha256 FROM validation_predictions").front();
    EXPECT_NE(report.find(hash.substr(0, 64)), std::string::npos) << "every part's predictions are named";
  }
}

TEST_F(Validating, EveryRunIsKeptWithItsWorld) {
  const ValidatorOptions its = options("one");
  Validator validator(question_.experiment, question_.policies, its);
  validator.predict();
  validator.measure(stand_in());
  validator.score();
  EXPECT_EQ(query(its.output, "SELECT backend, count(*) FROM runs GROUP BY backend ORDER BY backend"),
            (std::vector<std::string>{"simulation|18|", "stand-in|12|"}))
      << "6 cells with 3 seeds; 3 cells twice between 3 solos before and after";
  EXPECT_EQ(query(its.output, "SELECT count(*) FROM validation WHERE verdict = 'missing'"),
            std::vector<std::string>{"0|"});
}

TEST_F(Validating, NothingIsSimulatedWhereTheOutputIsInTheWay) {
  const ValidatorOptions its = options("one");
  { std::ofstream(its.output) << "something else"; }
  EXPECT_THROW(Validator(question_.experiment, question_.policies, its), Error);
  EXPECT_EQ(text_of(its.output), "something else");
}

TEST_F(Validating, AFileWithoutMeasurementsIsRefused) {
  const ValidatorOptions first = options("first");
  Validator validator(question_.experiment, question_.policies, first);
  validator.predict();
  validator.close();
  ValidatorOptions again = options("again");
  again.measured = {first.output};
  EXPECT_THROW(Validator(question_.experiment, question_.policies, again), Error);
}

}  // namespace
}  // namespace corun::validation
