#include "tracer/gate/memory/memory_calls.h"

#include <cstddef>

#include "tracer/gate/driver/driver_calls.h"

namespace corun::gate {
namespace {

struct ArrayShape {
  std::uint64_t width, height;
  std::uint32_t format, channels;
};
struct Array3dShape {
  std::uint64_t width, height, depth;
  std::uint32_t format, channels, flags;
};
struct MappingProperties {
  int type, handle_types, location;
};
constexpr int kHost = 2, kLastHost = 4;  // of several places on the host

template <class Value>
const Value* at(std::uint64_t word) {
  return reinterpret_cast<const Value*>(word);
}

std::uint64_t at_least_one(std::uint64_t count) { return count == 0 ? 1 : count; }

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

// A channel of a format that is none of the plain ones counts as four bytes.
std::uint64_t channel_bytes(std::uint32_t format) {
  switch (format) {
    case 0x01:
    case 0x08:
      return 1;
    case 0x02:
    case 0x09:
    case 0x10:
      return 2;
    default:
      return 4;
  }
}

template <class Shape>
std::uint64_t elements_bytes(const Shape& shape, std::uint64_t depth) {
  const std::uint64_t element = channel_bytes(shape.format) * at_least_one(shape.channels);
  return product(product(at_least_one(shape.width), at_least_one(shape.height)), product(at_least_one(depth), element));
}

std::uint64_t array_3d_bytes(std::uint64_t word) {
  const auto* shape = at<Array3dShape>(word);
  return shape == nullptr ? 0 : elements_bytes(*shape, shape->depth);
}

// All levels of a picture take a third more than the first.
std::uint64_t mipmapped_bytes(std::uint64_t word) {
  const std::uint64_t first = array_3d_bytes(word);
  return first + first / 3;
}

std::uint64_t array_bytes(std::uint64_t word) {
  const auto* shape = at<ArrayShape>(word);
  return shape == nullptr ? 0 : elements_bytes(*shape, 1);
}

AllocationCall of(const std::uint64_t* words, std::uint64_t bytes, MemoryKind kind = MemoryKind::kAddress) {
  AllocationCall call;
  call.handle = bytes == 0 ? nullptr : at<std::uint64_t>(words[0]);
  call.kind = kind;
  call.bytes = bytes;
  return call;
}

AllocationCall mapping(const std::uint64_t* words) {
  AllocationCall call = of(words, words[1], MemoryKind::kMapping);
  const auto* properties = at<MappingProperties>(words[2]);
  call.is_elsewhere = properties != nullptr && properties->location >= kHost && properties->location <= kLastHost;
  return call;
}

}  // namespace

AllocationCall read_allocation(std::uint32_t function, const std::uint64_t* words) {
  switch (function) {
    case cbid::cuMemAllocPitch_v2:
      return of(words, product(words[2], words[3]));
    case cbid::cuMemCreate:
      return mapping(words);
    case cbid::cuArrayCreate_v2:
      return of(words, array_bytes(words[1]), MemoryKind::kArray);
    case cbid::cuArray3DCreate_v2:
      return of(words, array_3d_bytes(words[1]), MemoryKind::kArray);
    case cbid::cuMipmappedArrayCreate:
      return of(words, mipmapped_bytes(words[1]), MemoryKind::kMipmappedArray);
    default:
      break;
  }
  AllocationCall call = of(words, words[1]);
  call.can_be_managed = function == cbid::cuMemAlloc_v2;
  call.is_managed = function == cbid::cuMemAllocManaged;
  return call;
}

MemoryKind freed_kind(std::uint32_t function) {
  switch (function) {
    case cbid::cuMemRelease:
      return MemoryKind::kMapping;
    case cbid::cuArrayDestroy:
      return MemoryKind::kArray;
    case cbid::cuMipmappedArrayDestroy:
      return MemoryKind::kMipmappedArray;
    default:
      return MemoryKind::kAddress;
  }
}

}  // namespace corun::gate
