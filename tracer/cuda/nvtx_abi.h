#pragma once

#include <cstddef>
#include <cstdint>

/// What this project uses of the binary interface of NVTX 3, which is in the programs that name ranges: declared by
/// ourselves, as CUPTI's is (cupti_abi.h). NVIDIA keeps it since 2016.
namespace corun::nvtx {

inline constexpr std::uint32_t kCallbackTable = 1;  ///< of GetExportTable
inline constexpr std::uint32_t kModuleCore = 1;     ///< functions without a domain
inline constexpr std::uint32_t kModuleCore2 = 5;    ///< ... and with one

/// Places in the tables of functions.
enum Core : std::uint32_t {
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
};
enum Core2 : std::uint32_t {
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
};

inline constexpr std::int32_t kMessageAscii = 1;
inline constexpr std::int32_t kMessageRegistered = 3;  ///< what the hook of kDomainRegisterStringA has returned

struct Attributes {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};
static_assert(sizeof(Attributes) == 48);

using Function = void (*)();

struct CallbackTable {
  std::size_t size;
  /// The table of a module, an array of places where pointers to functions stand, and how many there are.
  int (*module)(std::uint32_t module, Function*** table, unsigned* count);
};

using GetExportTable = const void* (*)(std::uint32_t id);

}  // namespace corun::nvtx
