#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace corun {

/// How the numbers of a column run.
enum class Course : bool {
  kLevel,
  kRising,  ///< nearly each is larger than the one before: instants, indices
};

/// Whole numbers in as few bits as their neighbours allow, each of them found at once. Any number comes back as it was
/// put in; a copy shares what is packed with its origin.
///
/// Numbers are packed by blocks of 256: each as its difference to the block's least number, in as many bits as most of
/// the differences take. The few beyond take 9 bytes each, behind the block. A block of one value takes no bits, and a
/// block's own data 32 bytes. The newest numbers, up to 256, are not packed yet.
///
/// Of a rising column, differences to a straight line are packed, one for each block.
///
/// Reading is safe from several threads; writing is not, neither to what is read nor to its origin or copies.
class PackedNumbers {
 public:
  static constexpr std::size_t kBlock = 256;

  explicit PackedNumbers(Course course) : course_(course) {}
  PackedNumbers(const PackedNumbers& other);
  PackedNumbers(PackedNumbers&& other) noexcept : course_(other.course_) { swap(other); }
  PackedNumbers& operator=(PackedNumbers other) noexcept {
    swap(other);
    return *this;
  }
  ~PackedNumbers() = default;

  /// Makes room for what blocks have besides their numbers.
  void reserve(std::size_t count) { blocks_.reserve(count / kBlock + 1); }
  void push_back(std::int64_t number) {
    if (newest_count_ == newest_room_) make_room();
    newest_[newest_count_++] = number;
  }
  /// Both may pack a block anew; the memory that it took is free only when the column is.
  void pop_back();
  void set(std::size_t index, std::int64_t number);

  /// Always inline: a simulation asks for several numbers of each operation.
  /// `kCourse`: the column's.
  template <Course kCourse>
  [[gnu::always_inline]] std::int64_t at(std::size_t index) const {
    const Block& block = blocks_[index / kBlock];
    const auto place = static_cast<std::uint32_t>(index % kBlock);
    const std::uint64_t code = code_at(block, place);
    if (code == block.mask) [[unlikely]]
      return far(block, place);
    return number_of(block, kCourse == Course::kRising ? place : 0, code);
  }
  std::size_t size() const { return packed_count_ + newest_count_; }
  /// Bytes that the column takes, without those of the object itself.
  std::size_t bytes() const;

  /// Block `block` in order, 256 numbers or as many as there are left: writes them to `numbers`, says how many.
  std::size_t read_block(std::size_t block, std::int64_t* numbers) const;
  /// The same of a column that is read once: frees what is passed.
  std::size_t take_block(std::size_t block, std::int64_t* numbers);
  /// Frees what only blocks before this one have. They must not be asked for from then on.
  void free_before(std::size_t block);
  /// Index of the first number above `limit`; size() if there is none. Blocks that cannot have one are passed over.
  std::size_t first_above(std::int64_t limit) const;

 private:
  static_assert(std::endian::native == std::endian::little, "numbers are read from any byte on");
  struct Block {
    std::int64_t base = 0;
    const std::byte* codes = nullptr;
    std::uint64_t mask = 0;  ///< of a number's bits; also the code of each that is kept behind the block
    std::int32_t slope = 0;  ///< from number to number
    std::uint16_t width = 0, far_count = 0;
  };
  struct Segment {
    std::shared_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    std::size_t end_block = 0;  ///< it has nothing of this block and later ones
  };
  static std::uint64_t code_at(const Block& block, std::uint32_t place) {
    const std::uint32_t bit = place * block.width;
    std::uint64_t bits;
    std::memcpy(&bits, block.codes + bit / 8, sizeof(bits));
    return (bits >> bit % 8) & block.mask;
  }
  /// Modulo 2^64, so that any difference between two numbers is good.
  static std::int64_t number_of(const Block& block, std::uint32_t place, std::uint64_t code) {
    const std::int64_t line = static_cast<std::int64_t>(place) * block.slope;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(block.base) + static_cast<std::uint64_t>(line) + code);
  }
  static std::int64_t far(const Block& block, std::uint32_t place);
  static void read(const Block& block, std::size_t count, std::int64_t* numbers);

  void swap(PackedNumbers& other) noexcept;
  void make_room();
  Block newest_block() const;
  Block pack(const std::int64_t* numbers);
  template <class Code>
  void pack_codes(Block& block, std::array<Code, kBlock>& codes, Code largest, const std::int64_t* numbers);
  std::byte* allocate(std::size_t bytes);

  Course course_;
  std::vector<Block> blocks_;  ///< of all numbers: the last one's are not packed
  std::unique_ptr<std::int64_t[]> newest_;
  std::size_t newest_count_ = 0, newest_room_ = 0;
  std::size_t packed_count_ = 0;
  std::vector<Segment> segments_;
  std::size_t freed_segments_ = 0;
  std::byte* free_ = nullptr;  ///< in the last segment
  std::size_t free_bytes_ = 0, segment_bytes_ = 0;
};

/// A packed column of one type of number: one of each row of a capture, or of each operation of a workload.
template <class Number, Course kCourse = Course::kLevel>
class PackedColumn {
 public:
  class Reader;
  class Drain;

  void reserve(std::size_t count) { numbers_.reserve(count); }
  void push_back(Number number) { numbers_.push_back(static_cast<std::int64_t>(number)); }
  void pop_back() { numbers_.pop_back(); }
  void set(std::size_t index, Number number) { numbers_.set(index, static_cast<std::int64_t>(number)); }

  [[gnu::always_inline]] Number operator[](std::size_t index) const {
    return static_cast<Number>(numbers_.template at<kCourse>(index));
  }
  Number front() const { return (*this)[0]; }
  Number back() const { return (*this)[size() - 1]; }
  std::size_t size() const { return numbers_.size(); }
  bool empty() const { return size() == 0; }
  std::size_t bytes() const { return numbers_.bytes(); }
  /// Frees what only numbers before this one have. They must not be asked for from then on.
  void free_before(std::size_t index) { numbers_.free_before(index / PackedNumbers::kBlock); }
  std::size_t first_above(Number limit) const { return numbers_.first_above(static_cast<std::int64_t>(limit)); }

 private:
  PackedNumbers numbers_{kCourse};
};

/// Reads a column from its first number on, faster than index by index. The column must outlive it unchanged.
template <class Number, Course kCourse>
class PackedColumn<Number, kCourse>::Reader {
 public:
  explicit Reader(const PackedColumn& column) : numbers_(&column.numbers_) {}
  Number next() {
    if (next_ == end_) end_ = numbers_->read_block(block_++, read_.get()), next_ = 0;
    return static_cast<Number>(read_[next_++]);
  }

 private:
  const PackedNumbers* numbers_;
  std::size_t block_ = 0, next_ = 0, end_ = 0;
  std::unique_ptr<std::int64_t[]> read_ = std::make_unique_for_overwrite<std::int64_t[]>(PackedNumbers::kBlock);
};

/// Reads a column from its first number on and frees its memory on the way.
template <class Number, Course kCourse>
class PackedColumn<Number, kCourse>::Drain {
 public:
  explicit Drain(PackedColumn column) : numbers_(std::make_unique<PackedNumbers>(std::move(column.numbers_))) {}
  Number next() {
    if (next_ == end_) end_ = numbers_->take_block(block_++, read_.get()), next_ = 0;
    return static_cast<Number>(read_[next_++]);
  }

 private:
  std::unique_ptr<PackedNumbers> numbers_;
  std::size_t block_ = 0, next_ = 0, end_ = 0;
  std::unique_ptr<std::int64_t[]> read_ = std::make_unique_for_overwrite<std::int64_t[]>(PackedNumbers::kBlock);
};

/// Nanoseconds in ascending order.
using Instants = PackedColumn<std::int64_t, Course::kRising>;
/// Nanoseconds in any order.
using Durations = PackedColumn<std::int64_t>;
/// Numbers of operations, or of what comes with them, nearly in their order.
using Indices = PackedColumn<std::uint32_t, Course::kRising>;
/// Numbers of a few things that recur.
using Kinds = PackedColumn<std::uint32_t>;

}  // namespace corun
