#pragma once

#include <cstddef>
#include <cstdint>

/// What this project uses of the binary interface of CUPTI 13, declared by ourselves so that building needs no CUDA
/// header and running no particular minor version.
///
/// Records are prefixes: CUPTI appends fields to a record from version to version and never moves one, so each struct
/// here ends with the last field that is read. Times are nanoseconds on the clock of the timestamp callback, 0 where
/// CUPTI does not know. tests/tracer/cuda/cupti_abi_test.cpp compares every number here with NVIDIA's header.
namespace corun::cupti {

using Result = std::int32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kEndOfBuffer = 12;      ///< of get_next_record: no more records
inline constexpr Result kOtherSubscriber = 39;  ///< another tool holds CUPTI in this process

inline constexpr std::uint32_t kFirstVersion = 130000;  ///< of the library, from and up to ...
inline constexpr std::uint32_t kLastVersion = 139999;
inline constexpr std::uint32_t kFirstVersionWithContextSwitches = 130200;

enum class Kind : std::uint32_t {
  kInvalid = 0,
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kPeerCopy = 22,
  kStream = 37,
  kContextSwitch = 57,
};

inline constexpr std::uint32_t kAttributeZeroedBuffers = 5;  ///< std::uint8_t: buffers are handed out full of zeros
inline constexpr std::uint32_t kThreadIdSystem = 1;          ///< thread ids of the operating system
inline constexpr std::uint32_t kFlushComplete = 0;           ///< buffers whose records are all complete
inline constexpr std::uint32_t kFlushForced = 1;             ///< all buffers
inline constexpr std::uint32_t kDomainDriver = 1;            ///< callbacks of the driver's functions
inline constexpr std::uint32_t kSiteEnter = 0;               ///< a callback before the function's work
inline constexpr std::uint32_t kSiteExit = 1;                ///< ... and after it
inline constexpr std::uintptr_t kStreamLegacy = 1;           ///< handles of the two default streams
inline constexpr std::uintptr_t kStreamPerThread = 2;

inline constexpr std::uint8_t kCopyHostToDevice = 1;
inline constexpr std::uint8_t kCopyDeviceToHost = 2;
inline constexpr std::uint8_t kCopyHostToArray = 3;
inline constexpr std::uint8_t kCopyArrayToHost = 4;
inline constexpr std::uint8_t kCopyDeviceToDevice = 8;  ///< 5 to 7: arrays on either side
inline constexpr std::uint8_t kCopyHostToHost = 9;
inline constexpr std::uint8_t kCopyPeer = 10;  ///< the last of the kinds
inline constexpr std::uint8_t kCopyIsAsync = 1;

/// Kinds of overhead that CUPTI causes itself.
inline constexpr std::uint32_t kOverheadFlush = 1 << 16;
inline constexpr std::uint32_t kOverheadInstrumentation = 2 << 16;
inline constexpr std::uint32_t kOverheadResource = 3 << 16;
inline constexpr std::uint32_t kOverheadBufferRequest = 7 << 16;

inline constexpr std::uint32_t kApiMps = 2;  ///< Context::api: a client of MPS
inline constexpr std::uint32_t kStreamIsDefault = 3;
inline constexpr std::uint32_t kObjectThread = 2;
inline constexpr std::uint32_t kSwitchBegins = 1;
inline constexpr std::uint32_t kSwitchEnds = 2;

#pragma pack(push, 8)

struct Activity {
  Kind kind;
};

struct Kernel {
  Kind kind;
  std::uint8_t cache_config, shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t cache_requested, cache_executed;
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid_x, grid_y, grid_z;
  std::int32_t block_x, block_y, block_z;
  std::int32_t static_shared_memory, dynamic_shared_memory;
  std::uint32_t local_memory_per_thread, local_memory;
  std::uint32_t correlation;
  std::int64_t grid;
  const char* name;  ///< only while the module is loaded
  void* reserved;
  std::uint64_t queued, submitted;
  std::uint8_t launch_type, is_carveout_requested, carveout_requested, padding;
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node;
  std::uint32_t shared_memory_limit;
  std::uint32_t graph;
};

struct Memcpy {
  Kind kind;
  std::uint8_t copy_kind, source_kind, target_kind, flags;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device, context, stream;
  std::uint32_t correlation, runtime_correlation, padding;
  void* reserved;
  std::uint64_t graph_node;
};

/// A copy between two devices.
struct PeerCopy {
  Kind kind;
  std::uint8_t copy_kind, source_kind, target_kind, flags;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device, context, stream;
  std::uint32_t source_device, source_context, target_device, target_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
};

struct Memset {
  Kind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device, context, stream;
  std::uint32_t correlation;
  std::uint16_t flags, memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

/// A call of a function of the runtime (kRuntime) or of the driver (kDriver).
struct Call {
  Kind kind;
  std::uint32_t function;  ///< callback id, see cupti_functions.h
  std::uint64_t start, end;
  std::uint32_t process, thread;
  std::uint32_t correlation;
  std::uint32_t result;
};

struct Device {
  Kind kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth, memory_bytes;
  std::uint32_t constant_memory, l2_cache;
  std::uint32_t threads_per_warp, clock_khz, copy_engines, sm_count, most_ipc;
  std::uint32_t warps_per_sm, blocks_per_sm, shared_memory_per_sm, registers_per_sm;
  std::uint32_t registers_per_block, shared_memory_per_block, threads_per_block;
  std::uint32_t block_x, block_y, block_z, grid_x, grid_y, grid_z;
  std::uint32_t capability_major, capability_minor;
  std::uint32_t id, is_ecc_on;
  std::uint8_t uuid[16];
  const char* name;
};

struct Context {
  Kind kind;
  std::uint32_t context, device;
  std::uint16_t api, null_stream;
  std::uint32_t parent_context;
  std::uint8_t is_green, padding;
  std::uint16_t sm_count;
};

struct Stream {
  Kind kind;
  std::uint32_t context, stream;
  std::uint32_t priority;  ///< signed, in truth
  std::uint32_t flag;
};

struct Overhead {
  Kind kind;
  std::uint32_t overhead_kind, object_kind;
  std::uint32_t process, thread, unused;  ///< of the object, where it is a thread
  std::uint64_t start, end;
};

/// From 13.2 on.
struct ContextSwitch {
  Kind kind;
  std::uint32_t context;
  std::uint64_t time;
  std::uint32_t operation;
};

/// What a callback before or after a function is given.
struct CallbackSite {
  std::uint32_t site;
  const char* name;
  const void* parameters;  ///< one of the structs below, by the function
  const Result* result;    ///< of the driver, after the function
  const char* symbol;
  void* context;  ///< of the calling thread
  std::uint32_t context_id;
  std::uint64_t* shared;
  std::uint32_t correlation;
};

/// Of cuEventRecord and cuEventRecordWithFlags, whose flags follow.
struct RecordEventParameters {
  void* event;
  void* stream;
};

struct SynchronizeEventParameters {
  void* event;
};

struct SynchronizeStreamParameters {
  void* stream;
};

struct StreamWaitEventParameters {
  void* stream;
  void* event;
};

#pragma pack(pop)

using Subscriber = void*;
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t function, const void* site);
using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid);
using Timestamp = std::uint64_t (*)();

using GetVersion = Result (*)(std::uint32_t* version);
using Subscribe = Result (*)(Subscriber* subscriber, Callback callback, void* user);
using Unsubscribe = Result (*)(Subscriber subscriber);
using EnableCallback = Result (*)(std::uint32_t enable, Subscriber subscriber, std::uint32_t domain,
                                  std::uint32_t function);
using SetAttribute = Result (*)(std::uint32_t attribute, std::size_t* size, void* value);
using SetThreadIdType = Result (*)(std::uint32_t type);
using RegisterTimestamp = Result (*)(Timestamp timestamp);
using RegisterBuffers = Result (*)(RequestBuffer request, CompleteBuffer complete);
using SwitchKind = Result (*)(Kind kind);                                        ///< enable, enable and dump, disable
using SwitchFunction = Result (*)(std::uint32_t function, std::uint8_t enable);  ///< of the driver
using GetStreamId = Result (*)(void* context, void* stream, std::uint8_t is_per_thread, std::uint32_t* id);
using FlushAll = Result (*)(std::uint32_t flags);
using GetNextRecord = Result (*)(std::uint8_t* buffer, std::size_t valid, Activity** record);
using GetDropped = Result (*)(void* context, std::uint32_t stream, std::size_t* dropped);

}  // namespace corun::cupti
