#include "experiments/question/clients/gpu_model.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace corun {

namespace {

/// Makers and series, of which no model is told apart by.
constexpr std::array<std::string_view, 14> kSeries = {"nvidia",   "tesla",  "geforce", "quadro", "amd",  "ati", "intel",
                                                      "instinct", "radeon", "grid",    "gpu",    "mesa", "arc", "r"};
/// Words behind a number that make another model of it.
constexpr std::array<std::string_view, 10> kVariants = {"ti",  "super", "laptop", "max", "d",
                                                        "ada", "xt",    "xtx",    "nvl", "mig"};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool has_digit(std::string_view word) { return std::ranges::any_of(word, is_digit); }

template <class Words>
bool is_one_of(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Letters and digits of a name, in lower case and between anything else.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// 80 of "80gb"; 0 of any other word.
double gigabytes(std::string_view word) {
  const bool is_size =
      word.size() > 2 && word.ends_with("gb") && std::ranges::all_of(word.substr(0, word.size() - 2), is_digit);
  return is_size && word.size() < 8 ? std::stod(std::string(word.substr(0, word.size() - 2))) : 0;
}

}  // namespace

std::string gpu_model(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  std::erase_if(words, [](const std::string& word) { return is_one_of(kSeries, word) || gigabytes(word) > 0; });
  const auto number = std::ranges::find_if(words, has_digit);
  if (number == words.end()) return "";
  const bool has_prefix = is_digit(number->front()) && number != words.begin();
  std::string model = (has_prefix ? *std::prev(number) : "") + *number;
  for (auto word = std::next(number); word != words.end(); ++word)
    if (is_one_of(kVariants, *word)) model += *word;
  return model;
}

double gigabytes_in(std::string_view name) {
  double found = 0;
  for (const std::string& word : words_of(name)) found = std::max(found, gigabytes(word));
  return found;
}

}  // namespace corun
