#include "experiments/report/report.h"

#include <fmt/ranges.h>

#include "experiments/base/built_in_files.h"
#include "experiments/base/hash.h"
#include "experiments/report/contents.h"
#include "experiments/report/palette.h"
#include "experiments/results/file.h"

namespace corun {

namespace {

/// 'sha256-...' as a policy for content names a script or style that it allows.
std::string content_source(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = sha256(text);
  std::string out;
  std::uint32_t bits = 0, count = 0;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bits = bits << 8 | static_cast<std::uint32_t>(std::stoul(hex.substr(i, 2), nullptr, 16));
    for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
  }
  out += kDigits[bits << (6 - count) & 63];
  return fmt::format("'sha256-{}='", out);
}

}  // namespace

std::string as_json_island(const std::string& json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i, 3);
    const bool is_line_end = rest == "\u2028" || rest == "\u2029";
    if (json[i] == '<') {
      out += "\\u003c";
    } else if (is_line_end) {
      out += rest == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string make_report(const std::vector<std::string>& files, const ReportChoice& choice) {
  const std::string_view script = report_script();
  const std::string style = std::string(report_style()) + colour_variables();
  std::string contents;
  reading(fmt::format("{}", fmt::join(files, ", ")), [&] { contents = report::contents(files, choice); });
  return fmt::format(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {} {}; style-src {}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Corun simcli report">
<title>Corun report</title>
<style>{}</style>
</head>
<body>
<main id="report"><noscript>The figures of this report are drawn by its own script, which is switched off.</noscript></main>
<script type="application/json" id="contents">{}</script>
<script>{}</script>
<script>{}</script>
</body>
</html>
)",
                     content_source(chart_library()), content_source(script), content_source(style), style,
                     as_json_island(contents), chart_library(), script);
}

}  // namespace corun
