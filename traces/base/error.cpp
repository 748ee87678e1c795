#include "traces/base/error.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "traces/base/violation.h"

namespace corun {

namespace {

std::atomic<ViolationHandler> violation_handler = nullptr;

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

void set_violation_handler(ViolationHandler handler) { violation_handler = handler; }

void assertion_failed(const char* condition, const char* file, int line, const std::string& values) {
  const std::string promise = fmt::format("{}:{}: promise broken: {}\n  {}", file, line, condition, values);
  std::fprintf(stderr, "corun: internal error: %s\n  please report this with the experiment\n", promise.c_str());
  if (const ViolationHandler handler = violation_handler) handler(promise);
  std::abort();
}

}  // namespace corun
