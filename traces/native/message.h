#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

// Messages of schema/trace.proto whose fields are columns. Protobuf's own code copies every column before any is
// read; here it is read in place.

/// The columns of numbers in a message, by field. As in protobuf, a field may come in several pieces, packed or not;
/// fields of other numbers and types are passed over. Only groups, which are obsolete, are refused.
class MessageColumns {
 public:
  static constexpr std::uint32_t kLastField = 15;

  /// `message` outlives the columns. Throws Error(kInput), without a location, where it is none.
  explicit MessageColumns(std::string_view message);

  /// The numbers of a field, from 1 to kLastField: varints, the last of them whole. Throws where they are not.
  std::string_view varints(std::uint32_t field) const;
  /// Throws that the message is none.
  [[noreturn]] void fail() const;

 private:
  struct Column {
    std::string_view piece;  ///< of the message
    std::string joined;      ///< all pieces, where there are several
    bool is_whole = true;    ///< no piece ends inside a number
  };
  static void add(Column& column, std::string_view piece);

  std::string_view message_;
  std::array<Column, kLastField + 1> columns_;
};

/// The texts of a field, in order: views of the message. Throws as MessageColumns does.
std::vector<std::string_view> texts_of(std::string_view message, std::uint32_t field);

/// Appends a field that is packed numbers, or one of its texts, to a message.
void append_field(std::string& message, std::uint32_t field, std::string_view bytes);

}  // namespace corun
