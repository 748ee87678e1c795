#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "traces/base/error.h"
#include "traces/base/time.h"

namespace corun {

enum class ParameterType : std::uint8_t {
  kDuration,  ///< text with a unit: "300us"
  kReal,
  kInteger,
  kBoolean,
  kChoice,    ///< one of `choices`
  kByClient,  ///< a mapping from client name to a real: "{ train: 0.4 }"
};

using ByClient = std::map<std::string, double, std::less<>>;
using ParameterValue = std::variant<Duration, double, std::int64_t, bool, std::string, ByClient>;

/// One row of a policy's parameter table.
struct ParameterDescriptor {
  std::string name;  ///< snake_case, as in YAML
  ParameterType type;
  ParameterValue default_value;
  std::string unit;      ///< "" where the type says it ("duration")
  double minimum = 0.0;  ///< of kDuration (ns), kReal, kInteger, and of each value of kByClient
  double maximum = 0.0;
  std::vector<std::string> choices;
  std::string meaning;         ///< one sentence
  std::string source;          ///< where the default comes from: paper section, artifact file, "ours"
  bool is_adjustable = false;  ///< it may change while the policy is at work: Policy::on_adjusted
};

/// A new value of a policy's adjustable parameter.
struct Adjustment {
  Duration at{};  ///< since the run's begin
  std::string parameter;
  ParameterValue value;
};

/// Completes the newest row of a ParameterTable, in the expression that adds it:
///
///     parameters.duration("quantum", 30s).range(1ms, 24h).means("How long ...").from("artifact, src/scheduler.c");
class ParameterRow {
 public:
  explicit ParameterRow(ParameterDescriptor& row) : row_(row) {}

  /// The smallest and the largest value that are accepted. Every type but boolean and choice needs a range; a ratio has
  /// 0 to 1 by itself.
  ParameterRow range(Duration minimum, Duration maximum) {
    CORUN_ASSERT(row_.type == ParameterType::kDuration, "parameter '{}' is no duration", row_.name);
    return bounds(static_cast<double>(to_ns(minimum)), static_cast<double>(to_ns(maximum)));
  }
  ParameterRow range(double minimum, double maximum) {
    CORUN_ASSERT(row_.type != ParameterType::kDuration, "parameter '{}' is a duration", row_.name);
    return bounds(minimum, maximum);
  }
  ParameterRow range(double minimum, double maximum, std::string unit) {
    return set(row_.unit, std::move(unit)).range(minimum, maximum);
  }
  ParameterRow means(std::string sentence) { return set(row_.meaning, std::move(sentence)); }
  /// Where the default comes from.
  ParameterRow from(std::string source) { return set(row_.source, std::move(source)); }
  /// It may change while the policy is at work, and the policy takes Policy::on_adjusted.
  ParameterRow adjustable() {
    row_.is_adjustable = true;
    return *this;
  }

 private:
  ParameterRow bounds(double minimum, double maximum) {
    row_.minimum = minimum;
    row_.maximum = maximum;
    return *this;
  }
  ParameterRow set(std::string& field, std::string text) {
    field = std::move(text);
    return *this;
  }

  ParameterDescriptor& row_;
};

/// The parameters of a policy, in the order in which pages list them. A row is added by its type, under the name by
/// which `Parameters` reads a value of that type.
class ParameterTable {
 public:
  ParameterRow duration(std::string name, Duration default_value) {
    return add(std::move(name), ParameterType::kDuration, default_value);
  }
  ParameterRow real(std::string name, double default_value) {
    return add(std::move(name), ParameterType::kReal, default_value);
  }
  /// A real that a range of its own may bound more closely than 0 to 1.
  ParameterRow ratio(std::string name, double default_value) {
    return real(std::move(name), default_value).range(0.0, 1.0, "ratio");
  }
  ParameterRow integer(std::string name, std::int64_t default_value) {
    return add(std::move(name), ParameterType::kInteger, default_value);
  }
  ParameterRow boolean(std::string name, bool default_value) {
    return add(std::move(name), ParameterType::kBoolean, default_value);
  }
  /// The first of `choices` is the default.
  ParameterRow choice(std::string name, std::vector<std::string> choices) {
    const ParameterRow row = add(std::move(name), ParameterType::kChoice, choices.front());
    rows_.back().choices = std::move(choices);
    return row;
  }
  /// Empty by default.
  ParameterRow by_client(std::string name) { return add(std::move(name), ParameterType::kByClient, ByClient{}); }

  void add(ParameterDescriptor row) { rows_.push_back(std::move(row)); }
  /// Of a variant that takes one parameter less.
  void remove(std::string_view name) {
    std::erase_if(rows_, [&](const ParameterDescriptor& row) { return row.name == name; });
  }

  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }

 private:
  ParameterRow add(std::string name, ParameterType type, ParameterValue default_value) {
    ParameterDescriptor& row = rows_.emplace_back();
    row.name = std::move(name);
    row.type = type;
    row.default_value = std::move(default_value);
    return ParameterRow(row);
  }

  std::vector<ParameterDescriptor> rows_;
};

}  // namespace corun
