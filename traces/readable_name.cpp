#include "traces/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace corun {

namespace {

constexpr std::size_t kLongestName = 4 << 10;

}  // namespace

std::string readable_name(std::string_view mangled) {
  const std::string name{mangled};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free};
  return std::string{demangled && name.starts_with("_Z") ? demangled.get() : name.c_str()}.substr(0, kLongestName);
}

}  // namespace corun
