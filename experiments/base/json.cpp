#include "experiments/base/json.h"

#include "experiments/base/terminal.h"
#include "traces/base/error.h"

namespace corun {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : as_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void Json::separate() {
  if (after_key_ || closing_.empty()) {
    after_key_ = false;
    return;
  }
  if (!is_first_) text_ += ',';
  new_line();
}

void Json::new_line() {
  if (layout_ == JsonLayout::kCompact) return;
  text_ += '\n';
  text_.append(closing_.size() * 2, ' ');
}

Json& Json::raw(std::string_view text) {
  separate();
  text_ += text;
  is_first_ = false;
  return *this;
}

Json& Json::open(char bracket) {
  raw(std::string_view(&bracket, 1));
  closing_ += bracket == '{' ? '}' : ']';
  is_first_ = true;
  return *this;
}

Json& Json::end() {
  CORUN_ASSERT(!closing_.empty(), "nothing to end");
  const char bracket = closing_.back();
  closing_.pop_back();
  if (!is_first_) new_line();
  text_ += bracket;
  is_first_ = false;
  return *this;
}

Json& Json::key(std::string_view name) {
  separate();
  text_ += quoted(name) + (layout_ == JsonLayout::kCompact ? ":" : ": ");
  after_key_ = true;
  is_first_ = false;
  return *this;
}

Json& Json::value(std::string_view text) { return raw(quoted(text)); }

}  // namespace corun
