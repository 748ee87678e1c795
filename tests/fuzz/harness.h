#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "traces/base/error.h"

/// What every fuzz target shares. A target is one file with one function
///
///   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
///
/// that hands the bytes to one surface of the project. `./dev fuzz` links it with libFuzzer, which makes up inputs; the
/// ordinary test build links it with replay.cpp, which reads those in corpus/. A target crashes, hangs, uses too much
/// memory, trips a sanitizer or breaks a promise that it states with `promise`: each is a finding.
namespace corun::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// Runs `read`, which may refuse its input by throwing Error(kInput) or Error(kUnsupported) and in no other way: what
/// else it throws ends the program. True if the input was accepted.
template <class Read>
bool accepts(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    promise(error.kind() == ErrorKind::kInput || error.kind() == ErrorKind::kUnsupported,
            "an input is refused as the fault of whoever wrote it");
    return false;
  }
}

/// True for one of `count` inputs, by their bytes: for promises that take long to look at.
inline bool is_one_of(std::uint32_t count, std::string_view bytes) {
  std::uint32_t sum = 0;
  for (const char byte : bytes) sum = sum * 31 + static_cast<unsigned char>(byte);
  return sum % count == 0;
}

/// Numbers out of the input, 0 when it is used up.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  bool is_empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view bytes_;
};

}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
