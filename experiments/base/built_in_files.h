#pragma once

#include <string_view>

namespace corun {

/// Files of the repository that the program holds, so that it needs none of them beside it.
std::string_view report_style();    ///< experiments/report/page/style.css
std::string_view report_script();   ///< the scripts beside it, one after the other
std::string_view parquet_script();  ///< experiments/scripts/write_parquet.py
std::string_view viewer_script();   ///< experiments/scripts/serve_perfetto.py
std::string_view bands_table();     ///< experiments/bands/bands.csv

}  // namespace corun
