#pragma once

#include <cstdint>

/// The records of a part: what one traced process says, while it runs, of one kind of work (CUDA, GL or Vulkan).
///
/// A part is a file of chunks (traces/schema/FORMAT.md) whose payloads are such records one behind the other. A guest
/// library writes them as they come, in no order of time; traces/parts/merge.h joins the parts of a session into one
/// timeline. The layout is the file format: little-endian, every record a multiple of 8 bytes, fields in this order,
/// no padding. A record may grow at its end; a reader skips what it does not know by `size`.
///
/// This header is included by code inside other people's processes: it needs nothing but <cstdint>.
///
/// Times are nanoseconds of CLOCK_MONOTONIC unless a field says otherwise; 0 where a record has no time. All numbers of
/// a record are the process's own (correlation ids, contexts, text ids).
namespace corun::part {

enum class RecordType : std::uint16_t {
  kProcess = 1,  ///< first record of every part
  kText = 2,     ///< before the first record that names it
  kDevice = 3,
  kContext = 4,
  kStream = 5,
  kKernel = 6,
  kCopy = 7,
  kMemset = 8,
  kCall = 9,
  kSync = 10,
  kEventRecord = 11,
  kOverhead = 12,
  kContextSwitch = 13,
  kSwapchain = 14,
  kVisit = 15,
  kFrame = 16,
  kLaunchCount = 17,
  kLost = 18,
  kEnd = 19,  ///< last record of a part that was ended properly
  kDraw = 20,
  kMark = 21,
};

struct RecordHead {
  RecordType type;
  std::uint16_t size;      ///< bytes of the whole record, head and text included; a multiple of 8
  std::uint32_t reserved;  ///< 0
};

/// What writes the part. One process may write one part of each.
enum class Source : std::uint32_t { kCuda = 1, kGl = 2, kVulkan = 3 };

/// How much of CUDA a part holds (CORUN_TRACE_CUDA).
enum class Detail : std::uint32_t {
  kNone = 0,     ///< the part is of frames, or the library was loaded and recorded nothing
  kKernels = 1,  ///< kernels, copies, memsets
  kCalls = 2,    ///< also the calls that launch and wait: what replay needs
  kCount = 3,    ///< only kLaunchCount: an untraced pass
};

/// Version of these records. In 1, draws had no pass.
inline constexpr std::uint32_t kVersion = 2;

/// The process that wrote the part. Neither arguments, environment nor user are recorded; the program's name follows as
/// a text id.
struct ProcessRecord {
  RecordHead head;
  Source source;
  Detail detail;
  std::uint32_t process;      ///< operating-system id
  std::uint32_t program;      ///< kText: base name of the executable
  std::uint64_t start_ticks;  ///< with `process`, names it for good (field 22 of /proc/PID/stat)
  std::int64_t monotonic_ns;  ///< both clocks read together, when the part was opened
  std::int64_t realtime_ns;
  std::uint32_t version;      ///< kVersion of the writer
  std::uint32_t api_version;  ///< of CUPTI (130000), of Vulkan's device, 0 for GL
};

/// A string. Its `length` bytes follow the record, padded with zeros to a multiple of 8; at most kMostTextBytes.
struct TextRecord {
  RecordHead head;
  std::uint32_t id;  ///< 1, 2, 3, ... in a part; 0 is "none"
  std::uint32_t length;
};
inline constexpr std::uint32_t kMostTextBytes = 4096;

struct DeviceRecord {
  RecordHead head;
  std::uint32_t device;  ///< ordinal within the process
  std::uint32_t name;    ///< kText
  std::uint64_t memory_bytes;
  std::uint32_t sm_count;
  std::uint32_t max_threads_per_sm;
  std::uint32_t registers_per_sm;
  std::uint32_t shared_memory_per_sm_bytes;
  std::uint8_t uuid[16];  ///< zeros where not known
};

struct ContextRecord {
  RecordHead head;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t is_mps;    ///< 1: a client of MPS
  std::uint32_t sm_count;  ///< of a green context; 0 = the whole device
};

struct StreamRecord {
  RecordHead head;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t priority;
  std::uint32_t is_default;
};

struct KernelRecord {
  RecordHead head;
  std::int64_t start_ns;  ///< 0 with end 0: CUPTI could not collect the time
  std::int64_t end_ns;
  std::uint64_t graph_node;
  std::uint32_t correlation;
  std::uint32_t device, context, stream;
  std::uint32_t name;  ///< kText, as the compiler wrote it (mangled)
  std::uint32_t grid_x, grid_y, grid_z;
  std::uint32_t block_x, block_y, block_z;
  std::uint32_t registers_per_thread;
  std::uint32_t shared_memory_bytes;  ///< per block, static + dynamic
  std::uint32_t graph;
};

enum class CopyKind : std::uint32_t {
  kUnknown = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kPeer = 4,
  kHostToHost = 5,
};

struct CopyRecord {
  RecordHead head;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
  std::uint64_t graph_node;
  std::uint32_t correlation;
  std::uint32_t device, context, stream;
  CopyKind kind;
  std::uint32_t is_async;
};

struct MemsetRecord {
  RecordHead head;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
  std::uint64_t graph_node;
  std::uint32_t correlation;
  std::uint32_t device, context, stream;
};

/// What a call of the host does, as far as replay asks.
enum class CallRole : std::uint16_t {
  kLaunch = 0,
  kGraphLaunch = 1,
  kSynchronizeDevice = 2,
  kSynchronizeStream = 3,
  kSynchronizeEvent = 4,
  kStreamWaitEvent = 5,
  kCopy = 6,  ///< submits a copy or a memset; whether it waits is for the copy to say
  kRecordEvent = 7,
  kOther = 8,
};

struct CallRecord {
  RecordHead head;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t thread;  ///< operating-system id
  std::uint32_t correlation;
  CallRole role;
  std::uint16_t is_driver;  ///< 1: a function of the driver, perhaps inside one of the runtime
  std::uint32_t function;   ///< CUPTI's callback id, for the curious
};

/// What a wait of the host, or of a stream, waited for; `correlation` is the call's.
struct SyncRecord {
  RecordHead head;
  std::int64_t start_ns;
  std::int64_t end_ns;
  CallRole role;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint32_t context, stream;  ///< stream UINT32_MAX: none or not known
  std::uint32_t event;            ///< 0: none
  std::uint32_t reserved2;
  std::uint64_t event_sync;  ///< pairs a wait with one kEventRecord; 0: not known
};

struct EventRecord {
  RecordHead head;
  std::uint32_t event;
  std::uint32_t correlation;  ///< of the call that recorded it
  std::uint32_t context, stream;
  std::uint64_t event_sync;
};

/// Host time that the capture itself took, as CUPTI reports it or as its callbacks sum it up.
inline constexpr std::uint32_t kInCallbacks = 0x10000000;
struct OverheadRecord {
  RecordHead head;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t thread;  ///< 0: of no one thread
  std::uint32_t kind;    ///< CUPTI's number, or kInCallbacks
};

/// A range that the program named (NVTX).
struct MarkRecord {
  RecordHead head;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t thread;  ///< that ended it
  std::uint32_t name;    ///< kText
};

/// The device took a context up or put it away. Only from CUPTI 13.2 on.
struct ContextSwitchRecord {
  RecordHead head;
  std::int64_t at_ns;
  std::uint32_t context;
  std::uint32_t is_begin;
};

struct SwapchainRecord {
  RecordHead head;
  std::uint32_t swapchain;       ///< 1, 2, ... in a part
  std::uint32_t renderer;        ///< kText: name of the device or GL_RENDERER
  std::uint32_t width, height;   ///< 0: not known
  std::uint32_t is_over_vulkan;  ///< 1: GL on top of Vulkan (Zink): its frames are seen by the Vulkan layer too
  std::uint32_t reserved;
};

/// One submission of graphics work: a queue submit, a flush, or what a swap itself submits.
struct VisitRecord {
  RecordHead head;
  std::int64_t submit_ns;      ///< the call began
  std::int64_t submit_end_ns;  ///< the call returned
  std::int64_t gpu_begin_ns;   ///< first work began on the GPU; 0: not known
  std::int64_t gpu_end_ns;     ///< last work ended on the GPU; 0: not known
  std::int64_t gpu_error_ns;   ///< half the width of the clock reading behind the GPU times
  std::uint64_t frame;         ///< number of the frame it belongs to; the frame's own record comes later
  std::uint32_t thread;
  std::uint32_t queue;      ///< queue or GL context: 1, 2, ... in a part
  std::uint32_t is_wait;    ///< 1: the call waited for the GPU (glFinish)
  std::uint32_t swapchain;  ///< 0: not yet known
};

struct FrameRecord {
  RecordHead head;
  std::int64_t present_ns;      ///< the present call began
  std::int64_t present_end_ns;  ///< it returned
  std::int64_t tracer_ns;       ///< host time of this frame spent in the tracer's hooks
  std::uint64_t frame;          ///< 1, 2, ... in a part
  std::uint32_t thread;
  std::uint32_t swapchain;
  std::uint32_t visits;  ///< visits the frame made, those without a kVisit included
  std::uint32_t reserved;
};

/// A piece of a frame's work between two stamps of the GPU, in one of the few frames whose composition was sampled. The
/// pieces of a frame come in their order.
struct DrawRecord {
  RecordHead head;
  std::int64_t gpu_begin_ns;
  std::int64_t gpu_end_ns;
  std::uint64_t frame;
  std::uint16_t calls;  ///< that gave the GPU this piece: 1, or more where a frame has too many to stamp each
  std::uint16_t pass;   ///< of the frame, from 1 on; 0: not recorded
  std::uint32_t swapchain;
};

/// Launches so far, in an untraced pass: at every kLaunchesPerCount-th launch.
struct LaunchCountRecord {
  RecordHead head;
  std::int64_t at_ns;
  std::uint64_t launches;
};
inline constexpr std::uint32_t kLaunchesPerCount = 64;

enum class LossReason : std::uint32_t {
  kCuptiDropped = 1,   ///< CUPTI had no buffer
  kNoTime = 2,         ///< CUPTI gave the record without a time
  kRingFull = 3,       ///< written faster than the disk took it
  kBadRecord = 4,      ///< not understood
  kNoQuery = 5,        ///< frames: no free GPU query for a visit
  kTooLarge = 6,       ///< behind --max-size
  kUnreported = 7,     ///< launched, but CUPTI had not handed the record over at the end
  kWriteFailed = 8,    ///< the disk did not take it
  kNoRoomForName = 9,  ///< ranges: more names than are kept
};

struct LostRecord {
  RecordHead head;
  std::uint64_t count;
  LossReason reason;
  std::uint32_t reserved;
};

enum class EndReason : std::uint32_t {
  kExit = 1,    ///< the process ended
  kWindow = 2,  ///< the time or the frames asked for were over
  kMaxSize = 3,
  kWriteFailed = 4,      ///< disk full and the like; `detail` is errno
  kNoCupti = 5,          ///< libcupti not found
  kCuptiVersion = 6,     ///< of another major; `detail` is its version
  kOtherSubscriber = 7,  ///< a profiler holds CUPTI
  kCuptiFailed = 8,      ///< `detail` is CUptiResult
  kNoQueries = 9,        ///< frames: the driver has no GPU timestamps; frames go on, times do not
  kOutOfMemory = 10,
  kOther = 11,
};

struct EndRecord {
  RecordHead head;
  std::int64_t at_ns;
  EndReason reason;
  std::uint32_t detail;
  std::uint32_t text;  ///< kText: a sentence, where there is more to say
  std::uint32_t reserved;
};

static_assert(sizeof(RecordHead) == 8 && sizeof(ProcessRecord) == 56 && sizeof(TextRecord) == 16);
static_assert(sizeof(DeviceRecord) == 56 && sizeof(ContextRecord) == 24 && sizeof(StreamRecord) == 24);
static_assert(sizeof(KernelRecord) == 88 && sizeof(CopyRecord) == 64 && sizeof(MemsetRecord) == 56);
static_assert(sizeof(CallRecord) == 40 && sizeof(SyncRecord) == 56 && sizeof(EventRecord) == 32);
static_assert(sizeof(OverheadRecord) == 32 && sizeof(ContextSwitchRecord) == 24 && sizeof(SwapchainRecord) == 32);
static_assert(sizeof(VisitRecord) == 72 && sizeof(FrameRecord) == 56 && sizeof(LaunchCountRecord) == 24);
static_assert(sizeof(LostRecord) == 24 && sizeof(EndRecord) == 32 && sizeof(DrawRecord) == 40);
static_assert(sizeof(MarkRecord) == 32);

}  // namespace corun::part
