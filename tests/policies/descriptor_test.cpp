#include "sim/policy/descriptor.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using std::chrono_literals::operator""s;

const SourceLocation kWhere{"exp.yaml", 14, 9, 2};

ParameterDescriptor quantum() {
  ParameterTable table;
  table.duration("quantum", 30s).range(1s, 60s);
  return *table.begin();
}

ParameterDescriptor of_type(ParameterType type, ParameterValue value) {
  return {.name = "p",
          .type = type,
          .default_value = std::move(value),
          .unit = "",
          .minimum = 0.0,
          .maximum = 1.0,
          .choices = {"hard", "elastic"},
          .meaning = "",
          .source = ""};
}

Error error_of(const ParameterDescriptor& parameter, std::string_view text) {
  try {
    parse_parameter(parameter, text, kWhere);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "'" << text << "' was accepted";
  return Error(ErrorKind::kInput, "");
}

TEST(Descriptor, BareNumberForADurationIsAnsweredWithItsLikelyUnit) {
  const Error error = error_of(quantum(), "25");
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.where().line, 14U);
  EXPECT_EQ(error.message(),
            "parameter 'quantum' is '25', expected a duration in ns, us, ms, s, min or h from 1s to 60s");
  EXPECT_EQ(error.help(), "a duration needs a unit: 25s?");
}

TEST(Descriptor, ValueOutsideTheRangeIsRefusedWithTheRangeAndTheDefault) {
  const Error error = error_of(quantum(), "61s");
  EXPECT_EQ(error.message(), "parameter 'quantum' is '61s', expected a duration from 1s to 60s");
  EXPECT_EQ(error.help(), "the default is 30s");
  EXPECT_THROW(parse_parameter(quantum(), "999ms", kWhere), Error);
  EXPECT_EQ(std::get<Duration>(parse_parameter(quantum(), "60s", kWhere)), Duration{60s});
}

TEST(Descriptor, MisspeltChoiceIsAnsweredWithTheNearestOne) {
  const auto choice = of_type(ParameterType::kChoice, std::string("hard"));
  EXPECT_EQ(error_of(choice, "elastik").help(), "did you mean 'elastic'?");
  EXPECT_EQ(error_of(choice, "soft").message(), "parameter 'p' is 'soft', expected one of hard, elastic");
  EXPECT_EQ(std::get<std::string>(parse_parameter(choice, "elastic", kWhere)), "elastic");
}

TEST(Descriptor, EveryTypeReadsItsOwnNotationAndNothingElse) {
  EXPECT_EQ(std::get<double>(parse_parameter(of_type(ParameterType::kReal, 0.5), "40%", kWhere)), 0.4);
  EXPECT_EQ(std::get<std::int64_t>(parse_parameter(of_type(ParameterType::kInteger, std::int64_t{0}), "1", kWhere)), 1);
  EXPECT_EQ(std::get<bool>(parse_parameter(of_type(ParameterType::kBoolean, false), "true", kWhere)), true);
  EXPECT_THROW(parse_parameter(of_type(ParameterType::kReal, 0.5), "half", kWhere), Error);
  EXPECT_THROW(parse_parameter(of_type(ParameterType::kInteger, std::int64_t{0}), "0.5", kWhere), Error);
  EXPECT_THROW(parse_parameter(of_type(ParameterType::kBoolean, false), "yes", kWhere), Error);
  EXPECT_THROW(parse_parameter(of_type(ParameterType::kByClient, ByClient{}), "0.4", kWhere), Error);
}

TEST(Descriptor, ValuesAreWrittenAsAnExperimentWouldWriteThem) {
  EXPECT_EQ(format_parameter(Duration{16'600'000}), "16.6ms");
  EXPECT_EQ(format_parameter(0.05), "0.05");
  EXPECT_EQ(format_parameter(std::int64_t{15}), "15");
  EXPECT_EQ(format_parameter(true), "true");
  EXPECT_EQ(format_parameter(std::string("hard")), "hard");
  EXPECT_EQ(format_parameter(ByClient{}), "{}");
  EXPECT_EQ(format_parameter(ByClient{{"serve", 0.25}, {"train", 0.4}}), "{ serve: 0.25, train: 0.4 }");
}

TEST(Descriptor, RegistryKeepsOrderAndRefusesASecondPolicyOfOneName) {
  PolicyRegistry registry;
  PolicyDescriptor b, a;
  b.name = "b";
  a.name = "a";
  registry.add(b);
  registry.add(a);
  EXPECT_EQ(registry.all().front().name, "b");
  EXPECT_EQ(registry.find("a")->name, "a");
  EXPECT_EQ(registry.find("c"), nullptr);
  EXPECT_THROW(registry.add(a), Error);
}

TEST(Descriptor, DefaultsHoldEveryParameter) {
  PolicyDescriptor policy;
  policy.parameters.add(quantum());
  EXPECT_EQ(policy.defaults().duration("quantum"), Duration{30s});
  EXPECT_EQ(policy.find("quantum")->maximum, 60e9);
  EXPECT_EQ(policy.find("quantom"), nullptr);
}

TEST(ParameterTable, RowsStandInOrderAndHoldWhatTheyWereGiven) {
  ParameterTable table;
  table.integer("group", 8).range(1, 64, "SMs").means("Size of a group.").from("ours");
  table.choice("mode", {"hard", "soft"});
  table.by_client("limits").range(0.01, 1.0);
  const std::vector<ParameterDescriptor> rows(table.begin(), table.end());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].default_value, ParameterValue(std::int64_t{8}));
  EXPECT_EQ(rows[0].maximum, 64.0);
  EXPECT_EQ(rows[0].unit + ", " + rows[0].meaning + ' ' + rows[0].source, "SMs, Size of a group. ours");
  EXPECT_EQ(rows[1].default_value, ParameterValue(std::string("hard")));
  EXPECT_EQ(rows[2].default_value, ParameterValue(ByClient{}));
}

TEST(ParameterTable, ARatioMayBeBoundedMoreCloselyThanZeroToOne) {
  ParameterTable table;
  table.ratio("share", 0.5);
  table.ratio("quantile", 0.95).range(0.5, 0.999);
  const auto& [share, quantile] = std::pair(*table.begin(), *std::next(table.begin()));
  EXPECT_EQ(std::pair(share.minimum, share.maximum), std::pair(0.0, 1.0));
  EXPECT_EQ(std::pair(quantile.minimum, quantile.maximum), std::pair(0.5, 0.999));
  EXPECT_EQ(quantile.unit, "ratio");
}

TEST(ParameterTable, ARemovedRowIsGone) {
  ParameterTable table;
  table.boolean("kept", true);
  table.boolean("gone", true);
  table.remove("gone");
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(table.begin()->name, "kept");
}

}  // namespace
}  // namespace corun
