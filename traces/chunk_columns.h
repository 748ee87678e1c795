#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "traces/base/error.h"
#include "traces/chunk.h"
#include "traces/timeline.h"

namespace corun {

// Rows of a timeline as columns of numbers, and back. A column is a repeated field of schema/trace.proto: empty where
// all rows say 0, one value where all rows say the same, else a value for each row.

/// Throws Error(kInput) for text that the format does not hold.
inline void check_string_size(std::string_view text) {
  if (text.size() <= kMaxStringBytes) return;
  throw_input({}, "text of {} bytes ('{:.60}...'), expected at most {}", text.size(), text, kMaxStringBytes);
}

/// How a value of a row looks in a column. Fields that say "none" by their largest value or by -1 are stored plus one,
/// which wraps "none" to the 0 that costs nothing.
enum class Offset { kNone, kPlusOne };

template <class T>
std::uint64_t to_wire(T value, Offset offset) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  return static_cast<std::make_unsigned_t<T>>(bits + (offset == Offset::kPlusOne ? 1 : 0));
}
inline std::uint64_t to_wire(std::int32_t value, Offset) { return static_cast<std::uint64_t>(std::int64_t{value}); }
inline std::uint64_t to_wire(bool value, Offset) { return value ? 1 : 0; }
inline std::uint64_t to_wire(StringId value, Offset offset) { return to_wire(value.value, offset); }
inline std::uint64_t to_wire(OpKind value, Offset) { return static_cast<std::uint64_t>(value); }
inline std::uint64_t to_wire(CallKind value, Offset) { return static_cast<std::uint64_t>(value); }

/// Throws where the row has no room for the value.
inline std::uint64_t at_most(std::uint64_t wire, std::uint64_t largest) {
  if (wire > largest) throw_input({}, "{}, expected at most {}", wire, largest);
  return wire;
}

template <class T>
void from_wire(T& value, std::uint64_t wire, Offset offset) {
  using Bits = std::make_unsigned_t<T>;
  const auto bits = static_cast<Bits>(at_most(wire, std::numeric_limits<Bits>::max()));
  value = static_cast<T>(static_cast<Bits>(bits - (offset == Offset::kPlusOne ? 1 : 0)));
}
inline void from_wire(std::int32_t& value, std::uint64_t wire, Offset) {
  value = static_cast<std::int32_t>(wire);
  if (static_cast<std::uint64_t>(std::int64_t{value}) != wire) throw_input({}, "{}, expected 32 bits", wire);
}
inline void from_wire(bool& value, std::uint64_t wire, Offset) { value = at_most(wire, 1) == 1; }
inline void from_wire(StringId& value, std::uint64_t wire, Offset offset) { from_wire(value.value, wire, offset); }
inline void from_wire(OpKind& value, std::uint64_t wire, Offset) { value = static_cast<OpKind>(at_most(wire, 6)); }
inline void from_wire(CallKind& value, std::uint64_t wire, Offset) { value = static_cast<CallKind>(at_most(wire, 6)); }

/// Drops what a column need not say: zero in every row, or the same value in every row.
template <class Column>
void collapse(Column& column) {
  if (column.empty()) return;
  const auto first = column.Get(0);
  if (std::all_of(column.begin(), column.end(), [first](auto value) { return value == first; })) {
    column.Truncate(first == 0 ? 0 : 1);
  }
}

/// Turns one field of some rows after another into a column.
template <class Row>
class ColumnWriter {
 public:
  explicit ColumnWriter(std::span<const Row> rows) : rows_(rows) {}

  template <class Column, class T>
  void plain(const char*, Column* column, T Row::*field, Offset offset = Offset::kNone) {
    column->Reserve(static_cast<int>(rows_.size()));
    for (const Row& row : rows_) column->AddAlreadyReserved(to_wire(row.*field, offset));
    collapse(*column);
  }

  template <class Column, class T>
  void delta(const char*, Column* column, T Row::*field, Offset offset = Offset::kNone) {
    column->Reserve(static_cast<int>(rows_.size()));
    std::uint64_t before = 0;
    for (const Row& row : rows_) {
      const std::uint64_t value = to_wire(row.*field, offset);
      column->AddAlreadyReserved(static_cast<std::int64_t>(value - std::exchange(before, value)));
    }
    collapse(*column);
  }

  template <class Column>
  void bytes(const char*, Column* column, std::string Row::*field) {
    for (const Row& row : rows_) {
      check_string_size(row.*field);
      *column->Add() = row.*field;
    }
  }

 private:
  std::span<const Row> rows_;
};

/// Fills one field of `row_count` rows after another from a column. Throws Error(kInput), without a location, where a
/// column is of another length or a value does not fit its field.
template <class Row>
class ColumnReader {
 public:
  explicit ColumnReader(std::uint32_t row_count) : rows_(row_count) {}

  std::vector<Row> take() { return std::move(rows_); }

  template <class Column, class T>
  void plain(const char* name, Column* column, T Row::*field, Offset offset = Offset::kNone) {
    read(name, *column, field, offset, [](std::uint64_t, std::uint64_t value) { return value; });
  }

  template <class Column, class T>
  void delta(const char* name, Column* column, T Row::*field, Offset offset = Offset::kNone) {
    read(name, *column, field, offset, [](std::uint64_t before, std::uint64_t value) { return before + value; });
  }

  template <class Column>
  void bytes(const char* name, Column* column, std::string Row::*field) {
    if (static_cast<std::size_t>(column->size()) != rows_.size()) fail_at_size(name, column->size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      check_string_size(column->Get(static_cast<int>(i)));
      rows_[i].*field = std::move(*column->Mutable(static_cast<int>(i)));
    }
  }

 private:
  template <class Column, class T, class Next>
  void read(const char* name, const Column& column, T Row::*field, Offset offset, Next next) {
    const auto size = static_cast<std::size_t>(column.size());
    if (size > 1 && size != rows_.size()) fail_at_size(name, size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t entry = size == 1 ? 0 : i;
      value = next(value, size == 0 ? 0 : static_cast<std::uint64_t>(column.Get(static_cast<int>(entry))));
      set(name, i, field, value, offset);
    }
  }

  template <class T>
  void set(const char* name, std::size_t row, T Row::*field, std::uint64_t value, Offset offset) try {
    from_wire(rows_[row].*field, value, offset);
  } catch (const Error& error) {
    throw_input({}, "{} of row {} is {}", name, row, error.message());
  }

  [[noreturn]] void fail_at_size(const char* name, std::size_t size) const {
    throw_input({}, "column {} of {} values, expected 0, 1 or {}", name, size, rows_.size());
  }

  std::vector<Row> rows_;
};

}  // namespace corun
