#pragma once

namespace corun {

/// DMGL_ options for libiberty: parameters and types, as `abi::__cxa_demangle` prints them.
extern const int kDemangleOptions;

/// Whether libiberty takes little time for `mangled`, a C++ name of at most 1 KiB, but for what it prints.
///
/// Names are input, and these cost hours before anything is printed. A type may be the one before it twice: such a
/// chain in a parameter pack is searched, here for at most 1,000 parts. What a conversion to a template parameter with
/// arguments encloses is parsed twice at each level, here at most 2^10 times.
bool is_cheap_to_demangle(const char* mangled);

}  // namespace corun
