#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/yaml.h"
#include "traces/base/time.h"

namespace corun {

/// A path as written in a file of `folder`: a relative one is relative to it.
std::string in_folder(const std::string& folder, const std::string& path);

/// Reads scalars as the field that asks types them. Each function returns nullopt after adding a diagnostic that says
/// what was found, what was expected and, where it is likely, what was meant.
class ScalarReader {
 public:
  explicit ScalarReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::optional<std::string> text(const Node& node);
  /// `usual_unit` is suggested where a bare number stands: "a duration needs a unit: did you mean `100us`?".
  std::optional<Duration> duration(const Node& node, Duration minimum, Duration maximum, std::string_view usual_unit);
  std::optional<std::uint64_t> bytes(const Node& node);
  /// Per second, from kLeastRate to kMostRate, whose periods can be told in nanoseconds.
  std::optional<double> rate(const Node& node);
  static constexpr double kLeastRate = 1e-9, kMostRate = 1e9;
  std::optional<double> number(const Node& node, double minimum, double maximum);  ///< "0.4" or "40%"
  /// The same with its unit behind it: "690W".
  std::optional<double> number_of(std::string_view unit, const Node& node, double minimum, double maximum);
  std::optional<std::uint64_t> integer(const Node& node, std::uint64_t minimum, std::uint64_t maximum);
  std::optional<bool> boolean(const Node& node);
  /// Index of the choice.
  std::optional<std::size_t> choice(const Node& node, std::span<const std::string_view> choices);

  /// Checks the shape before anything is read; false after a diagnostic.
  bool expect(const Node& node, Node::Kind kind, std::string_view example);
  void wrong(const Node& node, std::string message, std::string label = {}, std::vector<std::string> notes = {});
  void add(const Error& error, const SourceLocation& where) { diagnostics_.add(error, where); }
  /// "unknown key", with a suggestion out of `known`.
  void unknown(std::string_view what, std::string_view key, const SourceLocation& where,
               std::span<const std::string_view> known, std::string code = "E0201");
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  bool is_text(const Node& node, std::string_view expected);
  Diagnostics& diagnostics_;
};

/// One key of a mapping that reads into a T. The tables of these are the grammar of experiment and device files, and
/// what docs/experiment.md is checked against.
template <class T>
struct Field {
  std::string_view key;
  std::string_view type;  ///< for people: "duration", "rate", "text"
  std::function<void(const Node&, T&, ScalarReader&)> read;
  std::string_view former_key{};  ///< read as well; "" = none

  bool has(std::string_view name) const { return name == key || (!former_key.empty() && name == former_key); }
};

template <class T>
using FieldTable = std::vector<Field<T>>;

/// A number that has one unit: "690W", "1980MHz".
template <class T>
Field<T> unit_field(std::string_view key, std::string_view unit, double T::*member, double minimum, double maximum) {
  return {key, "number with its unit", [=](const Node& node, T& out, ScalarReader& read) {
            if (const auto value = read.number_of(unit, node, minimum, maximum)) out.*member = *value;
          }};
}

template <class Table>
std::vector<std::string_view> keys_of(const Table& table) {
  std::vector<std::string_view> keys;
  for (const auto& field : table) keys.push_back(field.key);
  return keys;
}

/// Reads every key of a mapping by its table; a key without a row or without a value is a diagnostic. `what` names the
/// mapping in messages ("client"). Rows are of Field<T>, or of a type that adds to it.
template <class Table, class T>
void read_fields(const Node& node, const Table& table, std::string_view what, T& out, ScalarReader& reader) {
  for (const Node::Entry& entry : node.entries) {
    const Field<T>* row = nullptr;
    for (const auto& field : table)
      if (field.has(entry.key)) row = &field;
    if (row == nullptr) {
      reader.unknown(what, entry.key, entry.where, keys_of(table));
    } else if (entry.value.is_absent()) {
      reader.wrong(entry.value, "key `" + entry.key + "` has no value", "expected: " + std::string(row->type));
    } else {
      row->read(entry.value, out, reader);
    }
  }
}

}  // namespace corun
