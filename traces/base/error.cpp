#include "traces/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace corun {

namespace {

std::string located(const SourceLocation& where, const std::string& message) {
  const std::string place = where.to_string();
  return place.empty() ? message : place + ": " + message;
}

}  // namespace

std::string SourceLocation::to_string() const {
  if (line == 0) return file;
  if (column == 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

Error::Error(ErrorKind kind, SourceLocation where, std::string message, std::string help)
    : std::runtime_error(located(where, message)),
      kind_(kind),
      where_(std::move(where)),
      message_(std::move(message)),
      help_(std::move(help)) {}

void assertion_failed(const char* condition, const char* file, int line, const std::string& values) {
  std::fprintf(stderr, "corun: internal error: %s:%d: promise broken: %s\n  %s\n  please report this with the experiment\n",
               file, line, condition, values.c_str());
  std::abort();
}

}  // namespace corun
