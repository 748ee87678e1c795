#include "experiments/base/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/sha2.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

#include "traces/base/error.h"

namespace corun {

namespace {

std::string to_hex(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string sha256(std::string_view bytes) {
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&state, digest.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string content_hash(std::string_view bytes) { return to_hex(XXH3_128bits(bytes.data(), bytes.size())); }

struct ContentHasher::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash{XXH3_createState(), &XXH3_freeState};
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->hash.get()); }
ContentHasher::~ContentHasher() = default;
void ContentHasher::update(std::string_view bytes) {
  XXH3_128bits_update(state_->hash.get(), bytes.data(), bytes.size());
}
std::string ContentHasher::digest() const { return to_hex(XXH3_128bits_digest(state_->hash.get())); }

std::string file_hash(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) throw_input({path}, "there is no such file");
  if (!std::filesystem::is_regular_file(path, failure)) throw_input({path}, "this is not a regular file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream && errno == ENOMEM) throw std::bad_alloc();  // opening it takes memory, too
  if (!stream) throw_input({path}, "the file cannot be opened");
  ContentHasher hasher;
  std::vector<char> block(1 << 16);
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())), stream.gcount() > 0)
    hasher.update({block.data(), static_cast<std::size_t>(stream.gcount())});
  if (stream.bad()) throw_input({path}, "the file cannot be read");
  return hasher.digest();
}

}  // namespace corun
