#include "traces/base/packed_column.h"

#include <algorithm>

#include "traces/base/column.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::size_t kSlack = 8;  // a number is read with the seven bytes behind its first
constexpr std::size_t kLeastSegment = 1024;
constexpr std::size_t kFarBytes = sizeof(std::int64_t) + 1;  // the number, and its place in the block
constexpr unsigned kWidestPacked = 56;                       // with up to 7 bits before it, it lies in 8 bytes
constexpr std::array<std::byte, kSlack> kNoBits{};

constexpr std::uint64_t mask_of(unsigned width) { return ~std::uint64_t{0} >> (64 - width); }

std::size_t bytes_of(unsigned width) { return PackedNumbers::kBlock * width / 8; }

/// Bits of a code up to this one, if all ones stand for numbers that are kept behind the block.
unsigned width_for(std::uint64_t code) {
  const auto width = static_cast<unsigned>(code == ~std::uint64_t{0} ? 64 : std::bit_width(code + 1));
  return width > kWidestPacked ? 64 : width;
}

/// Adds 0, `slope`, twice `slope` and so on to the numbers of a block.
void add_line(std::uint64_t* numbers, std::int64_t slope) {
  std::uint64_t line = 0;
  for (std::size_t i = 0; i < PackedNumbers::kBlock; ++i) {
    numbers[i] += line;
    line += static_cast<std::uint64_t>(slope);
  }
}

template <class Number>
std::pair<Number, Number> range_of(const std::array<Number, PackedNumbers::kBlock>& numbers) {
  Number least = numbers.front(), most = numbers.front();
  for (const Number number : numbers) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  return {least, most};
}

/// The middle one of three stretches' slopes: a single number that stands out does not bend the line.
std::int32_t slope_of(const std::int64_t* numbers) {
  constexpr std::size_t kStretch = (PackedNumbers::kBlock - 1) / 3;
  std::array<std::int64_t, 3> rises{};
  for (std::size_t i = 0; i < rises.size(); ++i) {
    const auto from = static_cast<std::uint64_t>(numbers[i * kStretch]);
    const auto to = static_cast<std::uint64_t>(numbers[(i + 1) * kStretch]);
    rises[i] = static_cast<std::int64_t>(to - from) / static_cast<std::int64_t>(kStretch);
  }
  std::ranges::sort(rises);
  return rises[1] >= INT32_MIN && rises[1] <= INT32_MAX ? static_cast<std::int32_t>(rises[1]) : 0;
}

/// How a block is packed: codes of so many bits, and so many that do not fit and are kept behind the block.
struct Packing {
  unsigned width;
  std::size_t far_count;
};

/// The one that takes the fewest bytes.
template <class Code>
Packing cheapest(const std::array<Code, PackedNumbers::kBlock>& codes, Code largest) {
  const unsigned all = width_for(largest);
  constexpr unsigned kSaved = 2;  // bits that make it worthwhile to look
  if (all <= kSaved) return {all, 0};
  const Code most = largest >> kSaved;
  Code beyond = 0;
  for (const Code code : codes) beyond += code > most ? 1 : 0;
  if (beyond * kFarBytes > bytes_of(kSaved)) return {all, 0};
  std::array<std::uint16_t, 65> counts{};
  for (const Code code : codes) ++counts[width_for(code)];
  Packing cheapest{all, 0};
  std::size_t least = bytes_of(all), far = 0;
  for (unsigned width = all; width-- > 1;) {
    far += counts[width + 1];
    const std::size_t bytes = bytes_of(width) + far * kFarBytes;
    if (width <= kWidestPacked && bytes < least) cheapest = {width, far}, least = bytes;
  }
  return cheapest;
}

/// Eight codes take as many bytes as each takes bits: places and shifts of all are known when this is compiled.
template <unsigned kWidth, class Code, std::size_t... kPlaces>
void write_eight(const Code* codes, std::byte* to, std::index_sequence<kPlaces...> /*places*/) {
  std::uint64_t bits = 0;
  const auto write = [&]<std::size_t kPlace>(std::integral_constant<std::size_t, kPlace>) {
    constexpr unsigned kUsed = kPlace * kWidth % 64, kNext = kUsed + kWidth;
    const std::uint64_t code = codes[kPlace];
    bits |= code << kUsed;
    if constexpr (kNext >= 64 || kPlace == 7) std::memcpy(to + kPlace * kWidth / 64 * 8, &bits, sizeof(bits));
    if constexpr (kNext > 64) bits = code >> (64 - kUsed);
    if constexpr (kNext == 64) bits = 0;
    if constexpr (kNext > 64 && kPlace == 7) std::memcpy(to + (kPlace * kWidth / 64 + 1) * 8, &bits, sizeof(bits));
  };
  (write(std::integral_constant<std::size_t, kPlaces>()), ...);
}

/// Writes up to seven bytes more than the codes take.
template <unsigned kWidth, class Code>
void write_codes(const Code* codes, std::byte* to) {
  for (std::size_t i = 0; i < PackedNumbers::kBlock; i += 8)
    write_eight<kWidth>(codes + i, to + i / 8 * kWidth, std::make_index_sequence<8>());
}

template <unsigned kWidth, std::size_t... kPlaces>
void read_eight(const std::byte* from, std::uint64_t base, std::uint64_t* numbers,
                std::index_sequence<kPlaces...> /*places*/) {
  const auto read = [&]<std::size_t kPlace>(std::integral_constant<std::size_t, kPlace>) {
    std::uint64_t bits;
    std::memcpy(&bits, from + kPlace * kWidth / 8, sizeof(bits));
    numbers[kPlace] = base + ((bits >> kPlace * kWidth % 8) & mask_of(kWidth));
  };
  (read(std::integral_constant<std::size_t, kPlaces>()), ...);
}

template <unsigned kWidth>
void read_codes(const std::byte* from, std::uint64_t base, std::uint64_t* numbers) {
  for (std::size_t i = 0; i < PackedNumbers::kBlock; i += 8)
    read_eight<kWidth>(from + i / 8 * kWidth, base, numbers + i, std::make_index_sequence<8>());
}

template <class Code>
using Write = void (*)(const Code*, std::byte*);
using Read = void (*)(const std::byte*, std::uint64_t, std::uint64_t*);

/// By width from 1 on.
template <class Code, std::size_t... kLess>
constexpr std::array<Write<Code>, sizeof...(kLess)> writers(std::index_sequence<kLess...> /*widths*/) {
  return {write_codes<kLess + 1, Code>...};
}
template <std::size_t... kLess>
constexpr std::array<Read, sizeof...(kLess)> readers(std::index_sequence<kLess...> /*widths*/) {
  return {read_codes<kLess + 1>...};
}
template <class Code>
constexpr auto kWriters =
    writers<Code>(std::make_index_sequence<std::min(8 * sizeof(Code), std::size_t{kWidestPacked})>());
constexpr auto kReaders = readers(std::make_index_sequence<kWidestPacked>());

}  // namespace

PackedNumbers::PackedNumbers(const PackedNumbers& other)
    : course_(other.course_),
      blocks_(other.blocks_),
      newest_count_(other.newest_count_),
      newest_room_(other.newest_room_),
      packed_count_(other.packed_count_),
      segments_(other.segments_),
      freed_segments_(other.freed_segments_),
      segment_bytes_(other.segment_bytes_) {
  if (newest_room_ == 0) return;
  newest_ = std::make_unique_for_overwrite<std::int64_t[]>(newest_room_);
  std::copy_n(other.newest_.get(), newest_count_, newest_.get());
  blocks_.back() = newest_block();
}

void PackedNumbers::swap(PackedNumbers& other) noexcept {
  std::swap(course_, other.course_);
  std::swap(blocks_, other.blocks_);
  std::swap(newest_, other.newest_);
  std::swap(newest_count_, other.newest_count_);
  std::swap(newest_room_, other.newest_room_);
  std::swap(packed_count_, other.packed_count_);
  std::swap(segments_, other.segments_);
  std::swap(freed_segments_, other.freed_segments_);
  std::swap(free_, other.free_);
  std::swap(free_bytes_, other.free_bytes_);
  std::swap(segment_bytes_, other.segment_bytes_);
}

PackedNumbers::Block PackedNumbers::newest_block() const {
  return {.codes = reinterpret_cast<const std::byte*>(newest_.get()), .mask = mask_of(64), .width = 64};
}

void PackedNumbers::make_room() {
  if (newest_count_ == kBlock) {
    blocks_.back() = pack(newest_.get());
    blocks_.push_back(newest_block());
    packed_count_ += kBlock;
    newest_count_ = 0;
    return;
  }
  const std::size_t room = newest_room_ == 0 ? 4 : newest_room_ * 4;
  auto larger = std::make_unique_for_overwrite<std::int64_t[]>(room);
  std::copy_n(newest_.get(), newest_count_, larger.get());
  newest_ = std::move(larger);
  newest_room_ = room;
  if (blocks_.empty()) blocks_.emplace_back();
  blocks_.back() = newest_block();
}

void PackedNumbers::pop_back() {
  if (newest_count_ == 0) {
    packed_count_ -= kBlock;
    newest_count_ = kBlock;
    blocks_.pop_back();
    read(blocks_.back(), kBlock, newest_.get());
    blocks_.back() = newest_block();
  }
  --newest_count_;
}

void PackedNumbers::set(std::size_t index, std::int64_t number) {
  if (index >= packed_count_) {
    newest_[index - packed_count_] = number;
    return;
  }
  Block& block = blocks_[index / kBlock];
  std::array<std::int64_t, kBlock> numbers;
  read(block, kBlock, numbers.data());
  numbers[index % kBlock] = number;
  block = pack(numbers.data());
}

/// Differences within 31 bits are handled as numbers of 32: the compiler takes several at a time.
PackedNumbers::Block PackedNumbers::pack(const std::int64_t* numbers) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 30;
  Block block;
  if (course_ == Course::kRising) block.slope = slope_of(numbers);
  std::array<std::uint64_t, kBlock> codes;
  std::memcpy(codes.data(), numbers, sizeof(codes));
  if (block.slope != 0) add_line(codes.data(), -std::int64_t{block.slope});
  const std::uint64_t first = codes.front();
  std::uint64_t any = 0, beyond = 0;
  for (const std::uint64_t code : codes) {
    any |= code - first;
    beyond |= code - first + kHalf;
  }
  if (any == 0) {
    block.base = static_cast<std::int64_t>(first);
    block.codes = kNoBits.data();
    block.mask = 1;
  } else if (beyond < 2 * kHalf) {
    std::array<std::int32_t, kBlock> near;
    for (std::size_t i = 0; i < kBlock; ++i) near[i] = static_cast<std::int32_t>(codes[i] - first);
    const auto [least, most] = range_of(near);
    std::array<std::uint32_t, kBlock> short_codes;
    for (std::size_t i = 0; i < kBlock; ++i) short_codes[i] = static_cast<std::uint32_t>(near[i] - least);
    block.base = static_cast<std::int64_t>(first + static_cast<std::uint64_t>(std::int64_t{least}));
    pack_codes(block, short_codes, static_cast<std::uint32_t>(most - least), numbers);
  } else {
    std::array<std::int64_t, kBlock> any_number;
    std::memcpy(any_number.data(), codes.data(), sizeof(codes));
    const auto [least, most] = range_of(any_number);
    block.base = least;
    for (std::uint64_t& code : codes) code -= static_cast<std::uint64_t>(least);
    pack_codes(block, codes, static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least), numbers);
  }
  return block;
}

template <class Code>
void PackedNumbers::pack_codes(Block& block, std::array<Code, kBlock>& codes, Code largest,
                               const std::int64_t* numbers) {
  const auto [width, far_count] = cheapest(codes, largest);
  block.width = static_cast<std::uint16_t>(width);
  block.mask = mask_of(width);
  block.far_count = static_cast<std::uint16_t>(far_count);
  std::byte* const to = allocate(bytes_of(width) + far_count * kFarBytes);
  block.codes = to;
  if (width == 64) {
    std::memcpy(to, codes.data(), sizeof(codes));
    return;
  }
  std::array<std::uint8_t, kBlock> places;
  std::size_t far = 0;
  for (std::size_t i = 0; far < far_count; ++i) {
    if (codes[i] < block.mask) continue;
    codes[i] = static_cast<Code>(block.mask);
    places[far++] = static_cast<std::uint8_t>(i);
  }
  kWriters<Code>[width - 1](codes.data(), to);
  std::byte* const far_numbers = to + bytes_of(width);
  for (std::size_t i = 0; i < far_count; ++i)
    std::memcpy(far_numbers + i * sizeof(std::int64_t), &numbers[places[i]], sizeof(std::int64_t));
  std::memcpy(far_numbers + far_count * sizeof(std::int64_t), places.data(), far_count);
}

std::int64_t PackedNumbers::far(const Block& block, std::uint32_t place) {
  if (block.far_count == 0) return number_of(block, place, block.mask);
  const std::byte* numbers = block.codes + bytes_of(block.width);
  const std::byte* places = numbers + block.far_count * sizeof(std::int64_t);
  const std::byte* end = places + block.far_count;
  const std::byte* found = std::find(places, end, static_cast<std::byte>(place));
  std::int64_t number;
  std::memcpy(&number, numbers + (found - places) * static_cast<std::ptrdiff_t>(sizeof(number)), sizeof(number));
  return number;
}

void PackedNumbers::read(const Block& block, std::size_t count, std::int64_t* numbers) {
  if (block.width == 64) {
    for (std::uint32_t i = 0; i < count; ++i) numbers[i] = number_of(block, i, code_at(block, i));
    return;
  }
  auto* const codes = reinterpret_cast<std::uint64_t*>(numbers);  // the same bits
  const auto base = static_cast<std::uint64_t>(block.base);
  if (block.width == 0)
    std::fill_n(codes, kBlock, base);
  else
    kReaders[block.width - 1U](block.codes, base, codes);
  if (block.slope != 0) add_line(codes, block.slope);
  if (block.far_count == 0) return;
  const std::byte* far = block.codes + bytes_of(block.width);
  const std::byte* places = far + block.far_count * sizeof(std::int64_t);
  for (std::size_t i = 0; i < block.far_count; ++i)
    std::memcpy(&numbers[static_cast<std::size_t>(places[i])], far + i * sizeof(std::int64_t), sizeof(std::int64_t));
}

std::size_t PackedNumbers::read_block(std::size_t block, std::int64_t* numbers) const {
  const std::size_t count = std::min(kBlock, size() - block * kBlock);
  read(blocks_[block], count, numbers);
  return count;
}

std::size_t PackedNumbers::take_block(std::size_t block, std::int64_t* numbers) {
  const std::size_t count = read_block(block, numbers);
  free_before(block + 1);
  return count;
}

void PackedNumbers::free_before(std::size_t block) {
  while (freed_segments_ + 1 < segments_.size() && segments_[freed_segments_].end_block <= block)
    segments_[freed_segments_++] = {};
}

std::size_t PackedNumbers::first_above(std::int64_t limit) const {
  std::array<std::int64_t, kBlock> numbers;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const bool is_narrow = block.width <= kWidestPacked && block.far_count == 0 && block.slope == 0;
    if (is_narrow && limit >= 0 && block.base <= limit - static_cast<std::int64_t>(block.mask)) continue;
    const std::size_t count = read_block(i, numbers.data());
    const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(count);
    const auto found = std::find_if(numbers.begin(), end, [&](std::int64_t number) { return number > limit; });
    if (found != end) return i * kBlock + static_cast<std::size_t>(found - numbers.begin());
  }
  return size();
}

std::byte* PackedNumbers::allocate(std::size_t bytes) {
  if (free_bytes_ < bytes + kSlack) {
    const std::size_t wanted = std::clamp(std::bit_floor(segment_bytes_ / 16), kLeastSegment, kLargePage);
    const std::size_t size = std::max(wanted, bytes + kSlack);
    if (!segments_.empty()) segments_.back().end_block = packed_count_ / kBlock;
    segments_.push_back({returnable_memory(size), size, SIZE_MAX});
    free_ = segments_.back().bytes.get();
    free_bytes_ = size;
    segment_bytes_ += size;
  }
  free_bytes_ -= bytes;
  return std::exchange(free_, free_ + bytes);
}

std::size_t PackedNumbers::bytes() const {
  std::size_t bytes = blocks_.capacity() * sizeof(Block) + newest_room_ * sizeof(std::int64_t);
  for (const Segment& segment : segments_) bytes += segment.size;
  return bytes;
}

}  // namespace corun
