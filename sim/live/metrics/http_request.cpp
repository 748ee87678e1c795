#include "sim/live/metrics/http_request.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun::live {

namespace {

constexpr std::string_view kNone = "";

/// What is in front of the separator; `rest` goes on behind it.
std::string_view take(std::string_view& rest, std::string_view separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest = end == std::string_view::npos ? kNone : rest.substr(end + separator.size());
  return taken;
}

bool is_equal_in_any_case(std::string_view a, std::string_view b) {
  const auto lower = [](char letter) { return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::string_view host_in(std::string_view headers) {
  while (!headers.empty()) {
    std::string_view value = take(headers, "\r\n");
    const std::string_view name = take(value, ":");
    if (is_equal_in_any_case(name, "host")) return without_blanks(value);
  }
  return {};
}

}  // namespace

HttpRequest HttpRequest::parse(std::string_view received) {
  HttpRequest request;
  const std::size_t end = received.substr(0, kMostBytes).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    request.state = received.size() < kMostBytes ? State::kIncomplete : State::kTooLarge;
    return request;
  }
  std::string_view headers = received.substr(0, end);
  std::string_view line = take(headers, "\r\n");
  request.method = take(line, " ");
  std::string_view target = take(line, " ");
  request.path = take(target, "?");
  const bool is_sound = !request.method.empty() && request.path.starts_with('/') && line.starts_with("HTTP/1.");
  request.state = is_sound ? State::kComplete : State::kMalformed;
  request.host = host_in(headers);
  return request;
}

std::string http_reply(std::string_view status, std::string_view content_type, std::string_view body,
                       bool body_is_sent) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\n\r\n{}",
      status, content_type, body.size(), body_is_sent ? body : "");
}

}  // namespace corun::live
