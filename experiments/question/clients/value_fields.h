#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>

#include "experiments/base/fields.h"

namespace corun {

/// Keys of mappings inside of a client that read into one member. What is not stated keeps its value.

template <class T>
Field<T> duration_field(std::string_view key, Duration T::*member, Duration minimum, Duration maximum,
                        std::string_view usual_unit = "ms") {
  return {key, "duration", [=](const Node& node, T& out, ScalarReader& read) {
            if (const auto value = read.duration(node, minimum, maximum, usual_unit)) out.*member = *value;
          }};
}

template <class T>
Field<T> number_field(std::string_view key, double T::*member, double minimum, double maximum) {
  return {key, "number", [=](const Node& node, T& out, ScalarReader& read) {
            if (const auto value = read.number(node, minimum, maximum)) out.*member = *value;
          }};
}

/// `member` gives it of a T, by std::invoke; it must be stated which T.
template <class T, class Member>
Field<T> count_field(std::string_view key, Member member, std::uint64_t minimum, std::uint64_t maximum) {
  return {key, "whole number", [=](const Node& node, T& out, ScalarReader& read) {
            using Count = std::remove_cvref_t<std::invoke_result_t<Member, T&>>;
            if (const auto value = read.integer(node, minimum, maximum))
              std::invoke(member, out) = static_cast<Count>(*value);
          }};
}

template <class T>
Field<T> count_field(std::string_view key, std::uint32_t T::*member, std::uint64_t minimum, std::uint64_t maximum) {
  return count_field<T, std::uint32_t T::*>(key, member, minimum, maximum);
}

}  // namespace corun
