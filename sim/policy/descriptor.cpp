#include "sim/policy/descriptor.h"

#include <algorithm>
#include <charconv>

#include "traces/base/units.h"

namespace corun {

namespace {

/// "from 1ms to 10min", in the parameter's own notation.
std::string range_of(const ParameterDescriptor& parameter) {
  if (parameter.type == ParameterType::kDuration)
    return fmt::format("from {} to {}", format_duration(Duration{static_cast<std::int64_t>(parameter.minimum)}),
                       format_duration(Duration{static_cast<std::int64_t>(parameter.maximum)}));
  const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
  return fmt::format("from {} to {}{}", parameter.minimum, parameter.maximum, unit);
}

[[noreturn]] void refuse(const ParameterDescriptor& parameter, const SourceLocation& where, std::string_view found,
                         const std::string& expected, std::string help = {}) {
  throw Error(ErrorKind::kInput, where,
              fmt::format("parameter '{}' is '{}', expected {}", parameter.name, found, expected), std::move(help));
}

template <class T>
T check_range(const ParameterDescriptor& parameter, T value, double number, std::string_view text,
              const std::string& kind, const SourceLocation& where) {
  if (number < parameter.minimum || number > parameter.maximum)
    refuse(parameter, where, text, fmt::format("{} {}", kind, range_of(parameter)),
           fmt::format("the default is {}", format_parameter(parameter.default_value)));
  return value;
}

Duration parse_duration_parameter(const ParameterDescriptor& parameter, std::string_view text,
                                  const SourceLocation& where) {
  if (const auto value = parse_duration(text))
    return check_range(parameter, *value, static_cast<double>(value->count()), text, "a duration", where);
  const std::string expected = fmt::format("a duration in ns, us, ms, s, min or h {}", range_of(parameter));
  if (!parse_real(text) || text.ends_with('%')) refuse(parameter, where, text, expected);
  const std::string usual = format_duration(std::get<Duration>(parameter.default_value));
  const std::string unit = usual.substr(usual.find_first_not_of("0123456789.-"));
  refuse(parameter, where, text, expected, fmt::format("a duration needs a unit: {}{}?", text, unit));
}

double parse_real_parameter(const ParameterDescriptor& parameter, std::string_view text, const SourceLocation& where) {
  const auto value = parse_real(text);
  if (!value) refuse(parameter, where, text, fmt::format("a number {}", range_of(parameter)));
  return check_range(parameter, *value, *value, text, "a number", where);
}

std::int64_t parse_integer_parameter(const ParameterDescriptor& parameter, std::string_view text,
                                     const SourceLocation& where) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size())
    refuse(parameter, where, text, fmt::format("a whole number {}", range_of(parameter)));
  return check_range(parameter, value, static_cast<double>(value), text, "a whole number", where);
}

bool parse_boolean_parameter(const ParameterDescriptor& parameter, std::string_view text, const SourceLocation& where) {
  if (text != "true" && text != "false") refuse(parameter, where, text, "true or false");
  return text == "true";
}

std::string parse_choice_parameter(const ParameterDescriptor& parameter, std::string_view text,
                                   const SourceLocation& where) {
  if (std::ranges::find(parameter.choices, text) != parameter.choices.end()) return std::string(text);
  const std::string nearest = nearest_name(text, parameter.choices);
  refuse(parameter, where, text, fmt::format("one of {}", fmt::join(parameter.choices, ", ")),
         nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

std::string format_by_client(const ByClient& values) {
  if (values.empty()) return "{}";
  std::string text = "{ ";
  for (const auto& [client, value] : values) text += fmt::format("{}: {}, ", client, value);
  return text.substr(0, text.size() - 2) + " }";
}

}  // namespace

const ParameterDescriptor* PolicyDescriptor::find(std::string_view parameter) const {
  const auto found = std::ranges::find(parameters, parameter, &ParameterDescriptor::name);
  return found == parameters.end() ? nullptr : &*found;
}

Parameters PolicyDescriptor::defaults() const {
  Parameters values;
  for (const ParameterDescriptor& parameter : parameters) values.set(parameter.name, parameter.default_value);
  return values;
}

ParameterValue parse_parameter(const ParameterDescriptor& parameter, std::string_view text,
                               const SourceLocation& where) {
  switch (parameter.type) {
    case ParameterType::kDuration:
      return parse_duration_parameter(parameter, text, where);
    case ParameterType::kReal:
      return parse_real_parameter(parameter, text, where);
    case ParameterType::kInteger:
      return parse_integer_parameter(parameter, text, where);
    case ParameterType::kBoolean:
      return parse_boolean_parameter(parameter, text, where);
    case ParameterType::kChoice:
      return parse_choice_parameter(parameter, text, where);
    case ParameterType::kByClient:
      break;
  }
  refuse(parameter, where, text, fmt::format("a mapping from client names to numbers {}", range_of(parameter)),
         fmt::format("write {}: {{ <client>: {} }}", parameter.name, parameter.maximum));
}

std::string format_parameter(const ParameterValue& value) {
  if (const auto* duration = std::get_if<Duration>(&value)) return format_duration(*duration);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* choice = std::get_if<std::string>(&value)) return *choice;
  return format_by_client(std::get<ByClient>(value));
}

void PolicyRegistry::add(PolicyDescriptor descriptor) {
  if (find(descriptor.name) != nullptr) throw_input({}, "there is already a policy named '{}'", descriptor.name);
  descriptors_.push_back(std::move(descriptor));
}

const PolicyDescriptor* PolicyRegistry::find(std::string_view name) const {
  const auto found = std::ranges::find(descriptors_, name, &PolicyDescriptor::name);
  return found == descriptors_.end() ? nullptr : &*found;
}

}  // namespace corun
