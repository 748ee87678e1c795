#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

/// Rows of text in aligned columns, two spaces between them. The first row is the heading. Columns start left-aligned;
/// those named in `right` (by index) are right-aligned. Columns that are empty in every row but the heading are left
/// out.
///
/// A table that is wider than `width` (in columns of the terminal) loses nothing. Long texts are wrapped in their
/// columns. If that is not enough, the columns are divided into tables that fit, one below the other, and the leading
/// columns that tell the rows apart are repeated in each; rows with nothing in any other column are left out of all but
/// the first. If not even one column fits next to the repeated ones, each row becomes a list of its cells, a line each.
/// Of leading columns, an empty cell counts as the one above it.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& right = {},
                    std::size_t width = kAnyWidth);

/// The text with its long lines broken at spaces; what is broken off begins `indent` columns in. Words stay whole, so
/// that a path can be copied from a terminal.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace corun
