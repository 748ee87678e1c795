#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace corun {

/// SHA-256, 64 lower-case hex digits, as sha256sum prints them: for hashes that are checked with other tools.
std::string sha256(std::string_view bytes);
/// XXH3-128, 32 lower-case hex digits.
std::string content_hash(std::string_view bytes);
/// Computes content_hash() of bytes that are given piece by piece.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  void update(std::string_view bytes);
  std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
/// content_hash() of a file as it is on disk. Throws Error(kInput) where it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace corun
