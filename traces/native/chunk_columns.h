#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "traces/base/error.h"
#include "traces/base/varint.h"
#include "traces/native/chunk.h"
#include "traces/native/message.h"
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
inline std::uint64_t to_wire(Vsync value, Offset) { return static_cast<std::uint64_t>(value); }

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
inline void from_wire(Vsync& value, std::uint64_t wire, Offset) { value = static_cast<Vsync>(at_most(wire, 2)); }

/// Turns one field of some rows after another into a column of a message.
template <class Row>
class ColumnWriter {
 public:
  explicit ColumnWriter(std::span<const Row> rows) : rows_(rows) {}

  std::string take() { return std::move(message_); }

  template <class T>
  void plain(std::uint32_t number, const char*, T Row::*field, Offset offset = Offset::kNone) {
    values_.clear();
    for (const Row& row : rows_) values_.push_back(to_wire(row.*field, offset));
    append(number);
  }

  template <class T>
  void delta(std::uint32_t number, const char*, T Row::*field, Offset offset = Offset::kNone) {
    values_.clear();
    std::uint64_t before = 0;
    for (const Row& row : rows_) {
      const std::uint64_t value = to_wire(row.*field, offset);
      values_.push_back(fold(static_cast<std::int64_t>(value - std::exchange(before, value))));
    }
    append(number);
  }

  void texts(std::uint32_t number, const char*, std::string Row::*field) {
    for (const Row& row : rows_) {
      check_string_size(row.*field);
      append_field(message_, number, row.*field);
    }
  }

 private:
  // What a column need not say is left out: zero in every row, or the same value in every row but the first.
  void append(std::uint32_t number) {
    const auto is_first = [&](std::uint64_t value) { return value == values_.front(); };
    const bool is_constant = std::ranges::all_of(values_, is_first);
    if (is_constant) values_.resize(values_.empty() || values_.front() == 0 ? 0 : 1);
    if (values_.empty()) return;
    std::string packed;
    for (const std::uint64_t value : values_) append_varint(packed, value);
    append_field(message_, number, packed);
  }

  std::span<const Row> rows_;
  std::vector<std::uint64_t> values_;
  std::string message_;
};

/// Fills the fields of rows from the columns of a message, one field of a block of rows after another, so that the
/// block is still in the processor's first cache when the next field comes. Throws Error(kInput), without a location,
/// where the message is none, a column is of another length or a value does not fit its field.
template <class Row>
class ColumnReader {
 public:
  ColumnReader(std::string_view message, std::uint32_t row_count)
      : message_(message), columns_(message), rows_(row_count) {}

  std::vector<Row> take() { return std::move(rows_); }

  /// `visit(*this)` names the fields.
  template <class Visit>
  void read_all(Visit visit) {
    do {
      block_end_ = std::min(block_ + kBlockRows, rows_.size());
      visit(*this);
      block_ = block_end_;
    } while (block_ < rows_.size());
  }

  template <class T>
  void plain(std::uint32_t number, const char* name, T Row::*field, Offset offset = Offset::kNone) {
    read(number, name, field, offset, [](std::uint64_t, std::uint64_t entry) { return entry; });
  }

  template <class T>
  void delta(std::uint32_t number, const char* name, T Row::*field, Offset offset = Offset::kNone) {
    read(number, name, field, offset,
         [](std::uint64_t before, std::uint64_t entry) { return before + static_cast<std::uint64_t>(unfold(entry)); });
  }

  void texts(std::uint32_t number, const char* name, std::string Row::*field) {
    if (block_ > 0) return;  // all at once
    const std::vector<std::string_view> texts = texts_of(message_, number);
    if (texts.size() != rows_.size()) fail_at_size(name, texts.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      check_string_size(texts[i]);
      rows_[i].*field = texts[i];
    }
  }

 private:
  static constexpr std::size_t kBlockRows = 256;

  /// How far a column has been read.
  struct Place {
    VarintReader entries{{}};
    std::uint64_t entry = 0, value = 0;
    bool is_constant = true;  ///< `entry` is that of all rows
  };

  Place begin_of(std::string_view varints) const {
    Place place{.entries = VarintReader(varints)};
    if (varints.empty()) return place;
    if (!place.entries.next(place.entry)) columns_.fail();
    place.is_constant = place.entries.is_at_end();
    if (!place.is_constant) place.entries = VarintReader(varints);
    return place;
  }

  /// `next(before, entry)`: the value of a row, by that of the row before and its entry in the column.
  template <class T, class Next>
  void read(std::uint32_t number, const char* name, T Row::*field, Offset offset, Next next) {
    Place place = block_ == 0 ? begin_of(columns_.varints(number)) : places_[number];
    if (place.is_constant && place.entry == 0) return;  // rows are made with what 0 stands for
    std::size_t row = block_;
    try {
      for (; row < block_end_; ++row) {
        if (!place.is_constant && !place.entries.next(place.entry)) break;
        place.value = next(place.value, place.entry);
        from_wire(rows_[row].*field, place.value, offset);
      }
    } catch (const Error& error) {
      throw_input({}, "{} of row {} is {}", name, row, error.message());
    }
    const bool is_last = block_end_ == rows_.size();
    if (row < block_end_ || (is_last && !place.entries.is_at_end())) fail_at_size(name, count(number));
    places_[number] = place;
  }

  std::size_t count(std::uint32_t number) const {
    std::size_t size = 0;
    std::uint64_t entry = 0;
    for (VarintReader entries(columns_.varints(number)); !entries.is_at_end(); ++size)
      if (!entries.next(entry)) columns_.fail();
    return size;
  }

  [[noreturn]] void fail_at_size(const char* name, std::size_t size) const {
    throw_input({}, "column {} of {} values, expected 0, 1 or {}", name, size, rows_.size());
  }

  std::string_view message_;
  MessageColumns columns_;
  std::array<Place, MessageColumns::kLastField + 1> places_{};
  std::vector<Row> rows_;
  std::size_t block_ = 0, block_end_ = 0;  ///< the rows that are being filled
};

}  // namespace corun
