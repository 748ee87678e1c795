#include "tests/bench/yardstick/replay_floor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>

#include "tests/bench/yardstick/winner_tree.h"

namespace corun::yardstick {

namespace {

constexpr unsigned kSlotBits = 17;  // 2^16 streams, and whether the event is an end

/// All that changes of a stream, in one cache line.
struct alignas(64) Stream {
  const std::uint32_t* gap = nullptr;
  const std::uint32_t* duration = nullptr;
  std::uint32_t next = 0, count = 0;
  std::uint64_t arrival = 0, begin = 0, busy = 0, waited = 0;
};

struct Record {
  std::uint64_t begin, end_and_stream;
};

std::vector<StreamColumns> read_columns(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::uint64_t streams = 0;
  in.read(reinterpret_cast<char*>(&streams), sizeof streams);
  std::vector<StreamColumns> columns(streams);
  for (StreamColumns& stream : columns) {
    std::uint64_t count = 0;
    in.read(reinterpret_cast<char*>(&count), sizeof count);
    for (auto* column : {&stream.gap_ns, &stream.duration_ns}) {
      column->resize(count);
      in.read(reinterpret_cast<char*>(column->data()), static_cast<std::streamsize>(count * 4));
    }
  }
  return columns;
}

/// Sixteenths of how much longer a kernel takes while so many run: up to four share the device for nothing.
std::array<std::uint32_t, 65> slow_down() {
  std::array<std::uint32_t, 65> sixteenths{};
  for (std::uint32_t running = 0; running < sixteenths.size(); ++running)
    sixteenths[running] = running < 4 ? 16 : 4 * running;
  return sixteenths;
}

}  // namespace

void write_columns(const std::string& path, const std::vector<StreamColumns>& streams) {
  std::ofstream out(path, std::ios::binary);
  const auto number = [&](std::uint64_t value) { out.write(reinterpret_cast<const char*>(&value), sizeof value); };
  number(streams.size());
  for (const StreamColumns& stream : streams) {
    number(stream.gap_ns.size());
    for (const auto* column : {&stream.gap_ns, &stream.duration_ns})
      out.write(reinterpret_cast<const char*>(column->data()), static_cast<std::streamsize>(column->size() * 4));
  }
}

std::uint64_t replay_floor(const std::string& path) {
  const std::vector<StreamColumns> columns = read_columns(path);
  PackedWinnerTree<kSlotBits> tree(columns.size());
  std::vector<Stream> streams(columns.size());
  std::uint64_t left = 0;
  for (std::uint32_t s = 0; s < streams.size(); ++s) {
    const auto count = static_cast<std::uint32_t>(columns[s].gap_ns.size());
    streams[s] = {columns[s].gap_ns.data(), columns[s].duration_ns.data(), 0, count, columns[s].gap_ns[0], 0, 0, 0};
    tree.set(s, streams[s].arrival << kSlotBits | s << 1);
    left += count;
  }
  const std::uint64_t kernels = left;
  const auto sixteenths = slow_down();
  std::vector<Record> records;
  records.reserve(kernels);
  std::array<std::uint32_t, 64> latencies{};
  std::uint32_t running = 0;
  while (left > 0) {
    const std::uint64_t now = tree.top() >> kSlotBits;
    const auto number = static_cast<std::uint32_t>(tree.top() >> 1 & ((1u << (kSlotBits - 1)) - 1));
    Stream& stream = streams[number];
    if ((tree.top() & 1) == 0) {
      ++running;
      const std::uint64_t length =
          std::uint64_t{stream.duration[stream.next]} * sixteenths[std::min(running, 64u)] / 16;
      stream.waited += now - stream.arrival;
      stream.begin = now;
      stream.busy += length;
      tree.set(number, (now + length) << kSlotBits | number << 1 | 1);
    } else {
      --running;
      --left;
      ++latencies[static_cast<std::size_t>(std::bit_width(now - stream.arrival))];
      records.push_back({stream.begin, now << kSlotBits | number});
      if (++stream.next < stream.count) {
        stream.arrival += stream.gap[stream.next];
        tree.set(number, std::max(now, stream.arrival) << kSlotBits | number << 1);
      } else {
        tree.set(number, std::numeric_limits<std::uint64_t>::max());
      }
    }
  }
  return kernels;
}

}  // namespace corun::yardstick
