#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace corun {

enum class JsonLayout : std::uint8_t { kIndented, kCompact };

/// Writes one JSON document, two spaces a level unless it is to be compact. Keys and values are given in order; nesting
/// is the caller's:
///
///     Json json;
///     json.object().field("frames", 12).key("notes").array().value("a").end().end();
class Json {
 public:
  explicit Json(JsonLayout layout = JsonLayout::kIndented) : layout_(layout) {}

  Json& object() { return open('{'); }
  Json& array() { return open('['); }
  Json& end();
  Json& key(std::string_view name);

  Json& value(std::string_view text);
  Json& value(const std::string& text) { return value(std::string_view(text)); }
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(bool is_true) { return raw(is_true ? "true" : "false"); }
  Json& value(double number) { return raw(std::isfinite(number) ? fmt::format("{}", number) : "null"); }
  Json& value(std::integral auto number) { return raw(fmt::format("{}", number)); }

  /// A number as it is to be written.
  Json& number(std::string_view digits) { return raw(digits); }

  template <class T>
  Json& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// The document; every object and array must have ended.
  const std::string& text() const { return text_; }

 private:
  Json& open(char bracket);
  Json& raw(std::string_view text);
  void separate();

  void new_line();

  JsonLayout layout_;
  std::string text_;
  std::string closing_;   ///< brackets still to close, innermost last
  bool is_first_ = true;  ///< nothing stands in the innermost bracket yet
  bool after_key_ = false;
};

}  // namespace corun
