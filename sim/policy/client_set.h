#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/base/ids.h"

namespace corun {

/// Some of the clients of a run, in the order of their ids.
class ClientSet {
 public:
  void insert(ClientId client) {
    if (client.value / kBits >= words_.size()) grow(client);
    words_[client.value / kBits] |= bit(client);
  }
  template <class Clients>
  void insert_all(const Clients& clients) {
    for (const ClientId client : clients) insert(client);
  }
  void insert_all(const ClientSet& others) {
    if (others.words_.size() > words_.size()) words_.resize(others.words_.size());
    for (std::size_t w = 0; w < others.words_.size(); ++w) words_[w] |= others.words_[w];
  }
  void erase(ClientId client) {
    if (client.value / kBits < words_.size()) words_[client.value / kBits] &= ~bit(client);
  }
  bool contains(ClientId client) const {
    return client.value / kBits < words_.size() && (words_[client.value / kBits] & bit(client)) != 0;
  }
  bool empty() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }
  void clear() {
    for (std::uint64_t& word : words_) word = 0;
  }

  /// Calls `visit(client)` of each; it must not change the set.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w]; left != 0;) {
        const auto index = static_cast<unsigned>(std::countr_zero(left));
        visit(ClientId{static_cast<std::uint32_t>(w * kBits + index)});
        left = index + 1 < kBits ? words_[w] >> (index + 1) << (index + 1) : 0;
      }
    }
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  [[gnu::noinline]] void grow(ClientId client) { words_.resize(client.value / kBits + 1); }
  static std::uint64_t bit(ClientId client) { return std::uint64_t{1} << client.value % kBits; }

  std::vector<std::uint64_t> words_;
};

}  // namespace corun
