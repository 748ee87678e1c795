#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace corun {

// The colours of figures: of reports, of Python's plots and of the pictures of the documentation. This is the one place
// that gives a policy its colour.

/// One colour, as "#rrggbb", on a white and on a dark ground. People with any colour vision can tell them apart (Okabe
/// and Ito's, with more contrast where they are thin).
struct Colour {
  const char* light;
  const char* dark;
};
std::span<const Colour> colours();

/// A look for each name, all different: `look % colours().size()` is its colour, `look / colours().size()` counts the
/// dashes of its lines. The main policies have the same colour in every figure. A name that begins with one of theirs
/// ("pilotfish, margin 2ms") gets that colour where it is free, and any other name one that depends on the name alone;
/// where two would have the same, the later one gets the next that is free.
std::vector<std::size_t> looks(const std::vector<std::string>& names);

/// Looks of clients, by their place; behind the last, the first again.
std::span<const std::size_t> client_looks();

/// Style sheet that defines them for a page as --c0, --c1, ...
std::string colour_variables();

}  // namespace corun
