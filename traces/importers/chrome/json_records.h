#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corun {

/// End of the JSON value that begins at `begin` (one past its last character), found by matching brackets outside of
/// strings. Empty if the text ends inside the value, or if a string runs over the border between two records, which is
/// what an unescaped quotation mark in a name causes. The value itself is not checked: a parser does that afterwards.
std::optional<std::size_t> json_value_end(std::string_view text, std::size_t begin);

/// First character at or after `begin` that is not white space; the text's size if there is none.
std::size_t skip_json_space(std::string_view text, std::size_t begin);

/// Cuts the array of a large JSON file into its records without parsing the whole file at once.
///
/// Profiler traces are arrays of hundreds of megabytes that are closed at the very end, so a crash of the profiled
/// program, or one badly quoted name, makes the file invalid JSON as a whole. Cut into records, only the broken record
/// is lost: reading goes on at the next `}, {"key` border. Views point into the text, which has to outlive them.
class JsonRecords {
 public:
  enum class Next {
    kRecord,     ///< `record()` holds one object
    kBroken,     ///< a record was passed over; `offset()` is where it began
    kTruncated,  ///< the text ended inside the array
    kEnd,        ///< the array was closed; `offset()` is one past its bracket
  };

  /// `begin`: one past the array's opening bracket.
  JsonRecords(std::string_view text, std::size_t begin) : text_(text), next_(begin) {}

  Next advance();
  /// Says that the last record could not be parsed: the records that it may have swallowed are read after all.
  void reject();

  std::string_view record() const { return record_; }
  std::size_t offset() const { return offset_; }

 private:
  std::size_t next_border(std::size_t begin, std::size_t end) const;
  void spend(std::size_t bytes);

  std::string_view text_;
  std::string_view record_;
  std::size_t offset_ = 0;
  std::size_t next_ = 0;
  std::size_t wasted_bytes_ = 0;
};

/// Line numbers of offsets that are asked for in rising order.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  /// Line of `offset`, from 1.
  std::uint32_t line_at(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t counted_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace corun
