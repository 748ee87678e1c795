#include "traces/native/message.h"

#include "traces/base/error.h"
#include "traces/base/varint.h"

namespace corun {
namespace {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

[[noreturn]] void fail_as_message(std::string_view message) {
  throw_input({}, "payload of {} bytes, expected a message of schema/trace.proto", message.size());
}

struct Field {
  std::uint64_t number = 0;
  WireType type{};
  std::string_view bytes;  ///< without tag and length
};

/// Takes fields off the front of a message.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : message_(message), rest_(message) {}

  bool is_at_end() const { return rest_.empty(); }

  Field next() {
    constexpr std::uint64_t kMostFields = (1u << 29) - 1;
    const std::uint64_t tag = varint();
    Field field{.number = tag >> 3, .type = static_cast<WireType>(tag & 7), .bytes = {}};
    if (field.number == 0 || field.number > kMostFields) fail_as_message(message_);
    field.bytes = value_of(field.type);
    return field;
  }

 private:
  std::string_view value_of(WireType type) {
    switch (type) {
      case WireType::kVarint: {
        const std::string_view from = rest_;
        varint();
        return from.substr(0, from.size() - rest_.size());
      }
      case WireType::kFixed64:
        return take(8);
      case WireType::kBytes:
        return take(varint());
      case WireType::kFixed32:
        return take(4);
    }
    fail_as_message(message_);
  }

  std::uint64_t varint() {
    VarintReader reader(rest_);
    std::uint64_t value = 0;
    if (!reader.next(value)) fail_as_message(message_);
    rest_.remove_prefix(rest_.size() - reader.bytes_left());
    return value;
  }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) fail_as_message(message_);
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view message_, rest_;
};

}  // namespace

MessageColumns::MessageColumns(std::string_view message) : message_(message) {
  for (FieldReader reader(message); !reader.is_at_end();) {
    const Field field = reader.next();
    const bool has_numbers = field.type == WireType::kVarint || field.type == WireType::kBytes;
    if (has_numbers && field.number <= kLastField) add(columns_[field.number], field.bytes);
  }
}

void MessageColumns::add(Column& column, std::string_view piece) {
  if (piece.empty()) return;
  if (static_cast<std::uint8_t>(piece.back()) >= 0x80) column.is_whole = false;
  if (column.piece.empty()) {
    column.piece = piece;
    return;
  }
  if (column.joined.empty()) column.joined = column.piece;
  column.joined += piece;
}

std::string_view MessageColumns::varints(std::uint32_t field) const {
  const Column& column = columns_[field];
  if (!column.is_whole) fail();
  return column.joined.empty() ? column.piece : column.joined;
}

void MessageColumns::fail() const { fail_as_message(message_); }

std::vector<std::string_view> texts_of(std::string_view message, std::uint32_t number) {
  std::vector<std::string_view> texts;
  for (FieldReader reader(message); !reader.is_at_end();) {
    const Field field = reader.next();
    if (field.number == number && field.type == WireType::kBytes) texts.push_back(field.bytes);
  }
  return texts;
}

void append_field(std::string& message, std::uint32_t field, std::string_view bytes) {
  append_varint(message, std::uint64_t{field} << 3 | static_cast<std::uint64_t>(WireType::kBytes));
  append_varint(message, bytes.size());
  message += bytes;
}

}  // namespace corun
