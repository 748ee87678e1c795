#include "python/columns.h"

#include <limits>

#include "traces/base/error.h"

namespace corun {

void Words::add(std::string_view word) {
  const auto [at, is_new] = numbers_.try_emplace(std::string(word), static_cast<std::int32_t>(count()));
  if (is_new) {
    const auto end = bytes_.size() + word.size();
    if (end > std::numeric_limits<std::int32_t>::max()) throw_input({}, "a text column has more than 2 GiB of words");
    bytes_ += word;
    ends_.push_back(static_cast<std::int32_t>(end));
  }
  codes_.push_back(at->second);
}

std::string_view Words::word(std::size_t code) const {
  const auto begin = static_cast<std::size_t>(ends_[code]);
  return std::string_view(bytes_).substr(begin, static_cast<std::size_t>(ends_[code + 1]) - begin);
}

void Column::count(bool is_there) {
  if (size_ % 8 == 0) validity_.push_back(0);
  if (is_there) validity_.back() |= static_cast<std::uint8_t>(1U << (size_ % 8));
  missing_ += is_there ? 0 : 1;
  ++size_;
}

void Column::add(std::int64_t value) {
  if (auto* reals = std::get_if<std::vector<double>>(&values_)) {
    reals->push_back(static_cast<double>(value));
  } else {
    std::get<std::vector<std::int64_t>>(values_).push_back(value);
  }
  count(true);
}

void Column::add(double value) {
  std::get<std::vector<double>>(values_).push_back(value);
  count(true);
}

void Column::add(std::string_view value) {
  std::get<Words>(values_).add(value);
  count(true);
}

void Column::add_missing() {
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&values_)) integers->push_back(0);
  if (auto* reals = std::get_if<std::vector<double>>(&values_))
    reals->push_back(std::numeric_limits<double>::quiet_NaN());
  if (auto* words = std::get_if<Words>(&values_)) words->add_missing();
  count(false);
}

Column Column::as_reals(const Column& integers) {
  Column reals(integers.name_, std::vector<double>{});
  const auto& values = std::get<std::vector<std::int64_t>>(integers.values_);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (integers.is_missing(row)) {
      reals.add_missing();
    } else {
      reals.add(values[row]);
    }
  }
  return reals;
}

}  // namespace corun
