#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace corun {

/// Takes the wrapper off a stream of bytes: gzip, zstd or none, recognised by the first bytes.
///
/// Output is appended to a string of the caller's and never grows beyond `max_bytes`, however small the input is.
/// Both functions throw Error(kInput) that names `path` for a damaged, cut or too large stream.
class Unwrapper {
 public:
  virtual ~Unwrapper() = default;
  virtual void feed(std::string_view block) = 0;
  virtual void finish() = 0;  ///< after the last block: is the stream complete?
};

/// Chooses by the beginning of the stream. Empty where the bytes are not wrapped.
std::unique_ptr<Unwrapper> make_unwrapper(std::string_view beginning, const std::string& path, std::uint64_t max_bytes,
                                          std::string& out);

/// Throws the error for content of more than `max_bytes`.
[[noreturn]] void fail_too_large(const std::string& path, std::uint64_t max_bytes);

}  // namespace corun
