#include "sim/live/metrics/live_metrics.h"

#include <fmt/format.h>

#include <utility>

#include "sim/live/metrics/metrics_text.h"

namespace corun::live {

namespace {

constexpr Duration kStaysNew = std::chrono::milliseconds{100};
constexpr Duration kPatience = std::chrono::milliseconds{100};  // several looks of a scheduler

}  // namespace

LiveMetrics::LiveMetrics(const ListenAddress& address, std::string version)
    : version_(std::move(version)), server_(address, [this] { return text(); }) {}

std::string LiveMetrics::url() const { return fmt::format("http://{}/metrics", server_.address().text()); }

const std::string& LiveMetrics::text() {
  if (!text_.empty() && clock_.now() < made_ + kStaysNew) return text_;
  text_ = metrics_text(board_.ask(kPatience), version_);
  made_ = clock_.now();
  return text_;
}

}  // namespace corun::live
