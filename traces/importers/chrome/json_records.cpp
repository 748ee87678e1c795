#include "traces/importers/chrome/json_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "traces/base/error.h"

namespace corun {
namespace {

constexpr std::size_t kNotFound = std::string_view::npos;
constexpr std::size_t kLongestRecord = std::size_t{16} << 20;
// Broken records are scanned more than once; a file that is nothing but broken records must still come to an end.
constexpr std::size_t kWasteAllowance = std::size_t{256} << 20;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr std::array<bool, 256> kIsStructural = [] {
  std::array<bool, 256> table{};
  for (unsigned char c : {'"', '{', '}', '[', ']'}) table[c] = true;
  return table;
}();

// High bit of the first byte of `word` that equals `c`; bits above it mean nothing. 0 if there is none.
std::uint64_t first_equal_byte(std::uint64_t word, char c) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighBits = 0x8080808080808080;
  const std::uint64_t differences = word ^ (kOnes * static_cast<unsigned char>(c));
  return (differences - kOnes) & ~differences & kHighBits;
}

// Closing quotation mark of the string whose opening one is before `begin`. Eight bytes at a time: this is where most
// of a large file's time goes.
std::size_t string_end(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  while (at + sizeof(std::uint64_t) <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    const std::uint64_t marks = first_equal_byte(word, '"') | first_equal_byte(word, '\\');
    if (marks == 0) {
      at += sizeof(word);
      continue;
    }
    at += static_cast<std::size_t>(std::countr_zero(marks)) / 8;
    if (text[at] == '"') return at;
    at += 2;  // the backslash and what it escapes
  }
  for (; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return kNotFound;
}

// Takes white space and `c` off the end of the text.
bool take_last(std::string_view& text, char c) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.empty() || text.back() != c) return false;
  text.remove_suffix(1);
  return true;
}

// A string such as `}, {`: not a string but the gap between two records, seen with the quotes out of step.
bool spans_border(std::string_view content) {
  return take_last(content, '{') && take_last(content, ',') && take_last(content, '}');
}

// How far a value was followed, and whether its end was found there.
struct Match {
  std::size_t end = 0;
  bool is_whole = false;
};

std::size_t scalar_end(std::string_view text, std::size_t begin) {
  return std::min(text.find_first_of(",]} \n\r\t", begin), text.size());
}

Match match_value(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (!kIsStructural[static_cast<unsigned char>(c)]) continue;
    if (c == '"') {
      const std::size_t end = string_end(text, at + 1);
      if (end == kNotFound) break;
      if (spans_border(text.substr(at + 1, end - at - 1))) return {end, false};
      at = end;
    } else {
      depth += c == '{' || c == '[' ? 1 : -1;
    }
    if (depth <= 0) return {at + 1, true};
  }
  return {text.size(), false};
}

}  // namespace

std::size_t skip_json_space(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_space(text[begin])) ++begin;
  return begin;
}

std::optional<std::size_t> json_value_end(std::string_view text, std::size_t begin) {
  if (begin >= text.size()) return std::nullopt;
  if (!kIsStructural[static_cast<unsigned char>(text[begin])]) return scalar_end(text, begin);
  const Match match = match_value(text, begin);
  return match.is_whole ? std::optional{match.end} : std::nullopt;
}

JsonRecords::Next JsonRecords::advance() {
  std::size_t at = skip_json_space(text_, next_);
  while (at < text_.size() && text_[at] == ',') at = skip_json_space(text_, at + 1);
  offset_ = at;
  if (at >= text_.size()) return Next::kTruncated;
  if (text_[at] == ']') {
    offset_ = at + 1;
    return Next::kEnd;
  }
  const std::string_view reachable = text_.substr(0, std::min(text_.size(), at + kLongestRecord));
  const Match match = text_[at] == '{' ? match_value(reachable, at) : Match{at, false};
  if (match.is_whole) {
    record_ = text_.substr(at, match.end - at);
    next_ = match.end;
    return Next::kRecord;
  }
  next_ = next_border(at, text_.size());
  if (next_ == kNotFound) {
    next_ = text_.size();
    return Next::kTruncated;
  }
  spend(match.end - at);
  return Next::kBroken;
}

void JsonRecords::reject() {
  spend(record_.size());
  const std::size_t border = next_border(offset_, next_);
  if (border != kNotFound) next_ = border;
}

// Opening bracket of the next record: `}`, `,`, `{`, `"`.
std::size_t JsonRecords::next_border(std::size_t begin, std::size_t end) const {
  const std::string_view text = text_.substr(0, end);
  for (std::size_t at = text.find('}', begin); at != kNotFound; at = text.find('}', at + 1)) {
    std::size_t next = skip_json_space(text, at + 1);
    if (next >= end || text[next] != ',') continue;
    next = skip_json_space(text, next + 1);
    if (next >= end || text[next] != '{') continue;
    const std::size_t key = skip_json_space(text, next + 1);
    if (key < end && text[key] == '"') return next;
  }
  return kNotFound;
}

void JsonRecords::spend(std::size_t bytes) {
  wasted_bytes_ += bytes;
  if (wasted_bytes_ > kWasteAllowance) {
    throw Error(ErrorKind::kInput, "too many broken records, expected a JSON array of events");
  }
}

std::uint32_t LineCounter::line_at(std::size_t offset) {
  offset = std::min(offset, text_.size());
  if (offset > counted_) {
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = offset;
  }
  return line_;
}

}  // namespace corun
