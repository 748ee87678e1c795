#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corun::live {

/// What is read of a request over HTTP: its head. Bodies are not read.
struct HttpRequest {
  static constexpr std::size_t kMostBytes = 8192;  ///< of a head

  enum class State { kIncomplete, kComplete, kMalformed, kTooLarge };
  State state = State::kIncomplete;
  std::string_view method, path;  ///< of a complete one: "GET", "/metrics", without what follows a question mark
  std::string_view host;          ///< its Host, without blanks around it; "" = there is none

  /// Of what has come so far, which must outlive it.
  static HttpRequest parse(std::string_view received);
};

/// A whole reply, after which the connection ends. `status`: "200 OK". Without `body_is_sent`, only its length is told.
std::string http_reply(std::string_view status, std::string_view content_type, std::string_view body,
                       bool body_is_sent = true);

}  // namespace corun::live
