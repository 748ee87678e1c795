#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace corun {

/// SHA-256, 64 lower-case hex digits, as sha256sum prints them: for what others are to check.
std::string sha256(std::string_view bytes);
/// XXH3-128, 32 lower-case hex digits.
std::string content_hash(std::string_view bytes);
/// The same of what is given piece by piece.
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
/// Of a file as it lies on disk. Throws Error(kInput) where it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace corun
