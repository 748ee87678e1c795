#include "traces/text/kernel_name.h"

#include <cctype>

namespace corun {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Where the template arguments that open at `from` are over; the end of the text where they never are. What stands in
// parentheses may compare: its angle brackets do not count.
std::size_t end_of_template_arguments(std::string_view text, std::size_t from) {
  int angles = 0, parentheses = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '(') ++parentheses;
    if (text[i] == ')') --parentheses;
    if (parentheses > 0) continue;
    if (text[i] == '<') ++angles;
    if (text[i] == '>' && --angles == 0) return i + 1;
  }
  return text.size();
}

bool ends_in_word(std::string_view text) {
  return !text.empty() && (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_');
}

}  // namespace

std::string short_kernel_name(std::string_view full) {
  std::string name;
  bool is_signature = false;
  std::size_t name_begin = 0;  // behind the return type
  for (std::size_t i = 0; i < full.size();) {
    if (full.substr(i).starts_with(kAnonymous)) {
      name += kAnonymous;
      i += kAnonymous.size();
    } else if (full[i] == '<' && ends_in_word(name)) {
      is_signature = true;
      i = end_of_template_arguments(full, i);
    } else if (full[i] == '(') {
      is_signature = true;
      break;
    } else {
      name += full[i++];
      if (name.back() == ' ') name_begin = name.size();
    }
  }
  if (!is_signature || name_begin == name.size()) return std::string{full};
  return name.substr(name_begin);
}

}  // namespace corun
