#pragma once

#include <string_view>

namespace corun {

/// Files that the program holds, so that it needs none of them where it runs.
std::string_view report_style();    ///< experiments/report/page/style.css
std::string_view report_script();   ///< the scripts of that folder, one after the other
std::string_view chart_library();   ///< Chart.js, as the build found it, with its licence
std::string_view parquet_script();  ///< experiments/scripts/write_parquet.py
std::string_view viewer_script();   ///< experiments/scripts/serve_perfetto.py
std::string_view bands_table();     ///< experiments/bands/bands.csv
std::string_view compared_table();  ///< experiments/bands/compared.csv

}  // namespace corun
