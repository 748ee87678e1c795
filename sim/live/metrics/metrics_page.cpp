#include "sim/live/metrics/metrics_page.h"

namespace corun::live {

std::string label_of(std::string_view name, std::string_view value) {
  std::string safe;
  for (const char letter : value) {
    if (letter == '\\' || letter == '"') safe += '\\';
    safe += letter == '\n' ? std::string("\\n") : std::string(1, letter);
  }
  return fmt::format("{}=\"{}\"", name, safe);
}

std::string seconds_of(Duration duration) { return fmt::format("{:.15g}", static_cast<double>(to_ns(duration)) / 1e9); }

void MetricsPage::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void MetricsPage::histogram(std::string_view labels, const Histogram& values) {
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < values.bounds().size(); ++i) {
    up_to += values.counts()[i];
    sample(fmt::format("{},{}", labels, label_of("le", seconds_of(values.bounds()[i]))), up_to, "_bucket");
  }
  sample(fmt::format("{},{}", labels, label_of("le", "+Inf")), values.total(), "_bucket");
  sample(labels, seconds_of(values.sum()), "_sum");
  sample(labels, values.total(), "_count");
}

}  // namespace corun::live
