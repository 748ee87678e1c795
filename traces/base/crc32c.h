#pragma once

#include <cstdint>
#include <string_view>

namespace corun {

/// CRC-32C (Castagnoli polynomial, reflected, as in iSCSI) of some bytes; 0xE3069283 for "123456789".
///
/// It uses the processor's instruction where there is one and a table elsewhere. Both give the same number. A burst of
/// up to 32 damaged bits is always found.
std::uint32_t crc32c(std::string_view bytes);

/// The same by the table alone: what processors without the instruction compute.
std::uint32_t crc32c_portable(std::string_view bytes);

}  // namespace corun
