#pragma once

#include <cstdint>

namespace SQLite {
class Statement;
}

/// Cells of a results file that anybody may have written, checked as they are read. What is wrong is thrown as
/// SQLite::Exception, as damage to the file is: reading() in results/file.h says the file's name.
namespace corun {

/// A time in nanoseconds of the run's clock, within 36 years: two of them can be added and subtracted.
std::int64_t instant_at(SQLite::Statement& row, int column);
/// A figure.
double number_at(SQLite::Statement& row, int column);

}  // namespace corun
