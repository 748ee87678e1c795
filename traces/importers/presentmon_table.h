#pragma once

#include <string_view>

#include "traces/importers/csv_lines.h"
#include "traces/reader.h"
#include "traces/timeline.h"

namespace corun {

/// True if the line names columns of the PresentMon family.
bool is_presentmon_header(std::string_view line);

/// Reads the table whose header `lines` stands at, to the end of the file, and fills in the file's provenance except
/// the format's name. Rows may be ragged: OCAT writes 29 columns once and 17 from then on. Throws Error(kInput) if the
/// header has no column of times.
void read_presentmon_table(CsvLines& lines, const SourceFile& source, TimelineBuilder& builder);

}  // namespace corun
