#include "experiments/validate/scoring/null_models.h"

#include <gtest/gtest.h>

namespace corun::validation {
namespace {

double rate(const std::vector<NullModel>& models, const std::string& name, std::size_t client) {
  for (const NullModel& model : models)
    if (model.name == name) return model.rates_per_s[client];
  ADD_FAILURE() << name;
  return 0;
}

TEST(NullModels, KnowWhatClientsDoAloneAndNothingElse) {
  const auto models = null_models({{100, 1.0}, {50, 0.25}});
  EXPECT_DOUBLE_EQ(rate(models, "no interference", 0), 100);
  EXPECT_DOUBLE_EQ(rate(models, "no interference", 1), 50);
  EXPECT_DOUBLE_EQ(rate(models, "equal share", 0), 50);
  EXPECT_DOUBLE_EQ(rate(models, "equal share", 1), 50) << "a quarter of the device is less than its half";
  EXPECT_DOUBLE_EQ(rate(models, "proportional share", 0), 80);
  EXPECT_DOUBLE_EQ(rate(models, "proportional share", 1), 40);
  EXPECT_DOUBLE_EQ(rate(models, "serialised", 0), 50);
  EXPECT_DOUBLE_EQ(rate(models, "serialised", 1), 25);
}

/// kept = 1 - 0.2 own - 0.3 others
std::vector<KeptRate> a_linear_world() {
  std::vector<KeptRate> rows;
  for (const double own : {0.2, 0.6, 1.0})
    for (const double others : {0.1, 0.5, 0.9})
      rows.push_back({{std::to_string(own), std::to_string(others)}, own, others, 1 - 0.2 * own - 0.3 * others});
  return rows;
}

TEST(LinearModel, FindsTheRuleOfALinearWorld) {
  const auto rows = a_linear_world();
  for (const KeptRate& row : rows) EXPECT_NEAR(linear_model(rows, row).value(), row.kept, 1e-9);
}

TEST(LinearModel, NeverSeesTheCompanyThatItSpeaksOf) {
  auto rows = a_linear_world();
  const double before = linear_model(rows, rows.front()).value();
  rows.front().kept = 17;
  EXPECT_DOUBLE_EQ(linear_model(rows, rows.front()).value(), before);
}

TEST(LinearModel, SaysNothingFromAFewRows) {
  auto rows = a_linear_world();
  rows.resize(6);
  EXPECT_FALSE(linear_model(rows, rows.front())) << "five others are left";
}

}  // namespace
}  // namespace corun::validation
