#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace corun {

/// A dense index that cannot be mistaken for another one: a ClientId does not pass for a StreamId.
///
/// Ids count from 0 within their owner (a run's clients, a timeline's strings) and index vectors directly.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  static constexpr Id none() { return Id{UINT32_MAX}; }
  constexpr bool is_none() const { return value == UINT32_MAX; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using ClientId = Id<struct ClientTag>;  ///< one application of a run (= one context on the device)
using StreamId = Id<struct StreamTag>;  ///< an in-order queue of operations inside a client
using OpId = Id<struct OpTag>;          ///< an operation of a workload or timeline, in recorded order
using JobId = Id<struct JobTag>;        ///< a client's unit of progress: frame, iteration, request
using StringId = Id<struct StringTag>;  ///< an interned string of a timeline

}  // namespace corun

template <class Tag>
struct std::hash<corun::Id<Tag>> {
  std::size_t operator()(corun::Id<Tag> id) const noexcept { return id.value; }
};
