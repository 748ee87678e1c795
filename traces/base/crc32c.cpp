#include "traces/base/crc32c.h"

#include <array>
#include <cstring>

namespace corun {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::string_view bytes) {
  std::uint64_t crc = 0xFFFFFFFF;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto tail = static_cast<std::uint32_t>(crc);
  for (char byte : bytes) tail = __builtin_ia32_crc32qi(tail, static_cast<unsigned char>(byte));
  return ~tail;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

std::uint32_t crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes);
#endif
  return crc32c_portable(bytes);
}

}  // namespace corun
