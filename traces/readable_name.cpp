#include "traces/readable_name.h"

#define HAVE_DECL_BASENAME 1  // else libiberty.h declares basename() in a way of its own
#include <libiberty/demangle.h>

#include "traces/name_cost.h"

namespace corun {

namespace {

constexpr std::size_t kLongestName = 4 << 10;

struct IsLong {};

/// The exception leaves C code that holds nothing, by the unwind tables that the ABI of x86-64 and ARM64 asks for.
void append(const char* text, std::size_t length, void* printed) {
  std::string& all = *static_cast<std::string*>(printed);
  all.append(text, length);
  if (all.size() > kLongestName) throw IsLong{};
}

std::string demangled(const std::string& name) {
  std::string printed;
  try {
    if (cplus_demangle_v3_callback(name.c_str(), kDemangleOptions, append, &printed) == 0) return name;
  } catch (IsLong) {
  }
  return printed;
}

}  // namespace

// Not abi::__cxa_demangle(): it has no limits, and that of GCC 12 never comes back from some names.
std::string readable_name(std::string_view mangled) {
  const std::string name{mangled};
  return (is_cheap_to_demangle(name.c_str()) ? demangled(name) : name).substr(0, kLongestName);
}

}  // namespace corun
