#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/base/ids.h"

namespace corun {

/// What an operation asks of the device.
enum class OpKind : std::uint8_t {
  kKernel = 0,              ///< compute on the SMs
  kCopyHostToDevice = 1,    ///< a copy engine of the upward direction
  kCopyDeviceToHost = 2,    ///< a copy engine of the downward direction
  kCopyDeviceToDevice = 3,  ///< inside one device: runs on the SMs' memory path, like a kernel
  kCopyPeer = 4,            ///< between devices
  kMemset = 5,
  kRender = 6,  ///< one visit of a frame to the graphics engine
};

/// Name of a kind in reports, results and the native format ("kernel", "copy_host_to_device", ...).
std::string_view to_string(OpKind kind);
/// True for the four copies: what `simcli info` counts, with memsets, under "memops".
bool is_copy(OpKind kind);
/// True for what the device does inside its own memory, by kernels of the driver's: memsets and copies from device to
/// device.
bool is_device_memory_op(OpKind kind);

/// What a host thread called.
enum class CallKind : std::uint8_t {
  kLaunch = 0,             ///< a kernel, copy or memset was submitted; the call does not wait
  kGraphLaunch = 1,        ///< one call that submits many operations
  kSynchronizeDevice = 2,  ///< waits for every stream of the process
  kSynchronizeStream = 3,  ///< waits for one stream
  kSynchronizeEvent = 4,   ///< waits for the work before an event record (`awaited`)
  kStreamWaitEvent = 5,    ///< makes `stream` wait for the work before an event record (`awaited`); the host goes on
  kBlockingCopy = 6,       ///< submits a copy and waits for it
};
std::string_view to_string(CallKind kind);

/// Launch shape of a kernel. All zero where the source does not say.
struct LaunchShape {
  std::uint32_t grid_x = 0, grid_y = 0, grid_z = 0;     ///< thread blocks
  std::uint32_t block_x = 0, block_y = 0, block_z = 0;  ///< threads per block
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_memory_bytes = 0;  ///< per block, static + dynamic
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;

  std::uint64_t blocks() const { return std::uint64_t{grid_x} * grid_y * grid_z; }
  std::uint32_t threads_per_block() const { return block_x * block_y * block_z; }
};

/// One operation on the device. Rows of a timeline are ordered by (start_ns, recorded order).
struct OpRecord {
  std::int64_t start_ns = 0;     ///< since the timeline's origin
  std::int64_t duration_ns = 0;  ///< >= 0; 0 where an integer-microsecond source rounded it away
  OpKind kind = OpKind::kKernel;
  StringId name = StringId::none();
  std::uint32_t queue = 0;         ///< index into Timeline::queues()
  std::uint32_t call = kNoIndex;   ///< index into Timeline::calls(): the call that submitted it; none if cut off
  std::uint32_t shape = kNoIndex;  ///< index into Timeline::shapes()
  std::uint64_t bytes = 0;         ///< copies and memsets; 0 = not known
  std::uint64_t graph_node = 0;    ///< node of a CUDA graph; 0 = not from a graph

  static constexpr std::uint32_t kNoIndex = UINT32_MAX;
  friend bool operator==(const OpRecord&, const OpRecord&) = default;
};

/// One call of a host thread into the driver or runtime. Rows are ordered by (start_ns, recorded order).
struct CallRecord {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  ///< of the call as the capture saw it, its waiting included
  CallKind kind = CallKind::kLaunch;
  std::uint32_t thread = 0;                    ///< index into Timeline::threads()
  std::uint32_t queue = OpRecord::kNoIndex;    ///< stream it submits to or waits for; none = all
  std::uint32_t awaited = OpRecord::kNoIndex;  ///< event waits: the last OpRecord before the event record; none = all
  friend bool operator==(const CallRecord&, const CallRecord&) = default;
};

/// One presented frame of a game.
///
/// A frame may visit the GPU several times. Span (first start to last end) contains other contexts' time; busy is the
/// union of its own work. Both are kept; a source that knows only one leaves the other at -1 (absent is not zero).
struct FrameRecord {
  std::int64_t present_ns = 0;      ///< when present (swap) was called
  std::int64_t interval_ns = -1;    ///< present to present
  std::int64_t cpu_busy_ns = -1;    ///< host work of the frame, its waits left out
  std::int64_t in_present_ns = -1;  ///< host time inside the present call
  std::int64_t submit_ns = -1;      ///< first submission of the frame's work
  std::int64_t gpu_begin_ns = -1;   ///< first GPU work begins
  std::int64_t gpu_end_ns = -1;     ///< last GPU work ends
  std::int64_t gpu_busy_ns = -1;    ///< time in which the frame's own work ran
  std::uint32_t visits = 0;         ///< separate visits to the GPU; 0 = not known
  std::uint32_t swapchain = 0;      ///< index into Timeline::swapchains()
  bool dropped = false;             ///< presented but never displayed, where the source says so
  /// First GPU work to last, with what lies between; -1 = not known.
  std::int64_t gpu_span_ns() const {
    return gpu_begin_ns >= 0 && gpu_end_ns >= gpu_begin_ns ? gpu_end_ns - gpu_begin_ns : -1;
  }
  friend bool operator==(const FrameRecord&, const FrameRecord&) = default;
};

/// A piece of a frame's work on the GPU, in one of the few frames whose composition was sampled: one call that gave the
/// GPU work, or several. It belongs to the frame of its swap chain in whose GPU time it begins.
struct DrawRecord {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint32_t calls = 0;
  std::uint32_t pass = 0;  ///< of its context in the frame, from 1 on: drawn to one target at a time; 0: not recorded
  std::uint32_t swapchain = 0;  ///< index into Timeline::swapchains()
  friend bool operator==(const DrawRecord&, const DrawRecord&) = default;
};

/// An in-order queue of the device as the capture saw it.
struct QueueRecord {
  std::uint32_t device = 0;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t process = 0;  ///< operating-system id where the source has it; distinguishes ranks and processes
  std::int32_t priority = 0;
  friend bool operator==(const QueueRecord&, const QueueRecord&) = default;
};

struct ThreadRecord {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  friend bool operator==(const ThreadRecord&, const ThreadRecord&) = default;
};

/// Whether presents waited for the display.
enum class Vsync : std::uint8_t { kUnknown = 0, kOff = 1, kOn = 2 };

/// Frames of one program go through one or more swap chains. Each recording of a file that holds several has its own.
struct SwapchainRecord {
  StringId application = StringId::none();
  std::uint64_t process = 0;
  std::string address = {};
  std::uint32_t run = 0;           ///< recording within its file, from 1; 0 = the file holds one
  Vsync vsync = Vsync::kUnknown;   ///< of most of its presents
  std::uint32_t gpu_load_ppm = 0;  ///< mean load of the GPU meanwhile, all programs, in millionths; 0 = not logged
  friend bool operator==(const SwapchainRecord&, const SwapchainRecord&) = default;
};

/// A named interval that marks a step: an iteration, a request, a profiler step.
struct MarkRecord {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  StringId name = StringId::none();
  std::uint32_t thread = 0;
  friend bool operator==(const MarkRecord&, const MarkRecord&) = default;
};

/// Name of the mark of a call that begins to capture launches into a graph. It is no step.
inline constexpr std::string_view kGraphCaptureMark = "(graph capture)";

/// What a kernel uses of the device while it runs alone, by hardware counters: means of several of its launches, each
/// by its duration. In millionths of the device's peak, of what was looked up for `l2_hits_ppm`, and of the warps that
/// the SMs hold for `warps_ppm`. 0 = not counted, or nothing.
struct CounterRecord {
  StringId name = StringId::none();  ///< OpRecord::name of the kernel
  std::uint32_t shape = UINT32_MAX;  ///< index into Timeline::shapes(); none = not known
  std::uint32_t launches = 0;        ///< that were counted
  std::int64_t mean_ns = 0;          ///< their duration
  std::uint32_t dram_ppm = 0;        ///< throughput of the device memory
  std::uint32_t l2_ppm = 0;          ///< of the second-level cache
  std::uint32_t l2_hits_ppm = 0;
  std::uint32_t sm_ppm = 0;     ///< of the busiest unit of the SMs
  std::uint32_t warps_ppm = 0;  ///< active on the SMs that had any
  friend bool operator==(const CounterRecord&, const CounterRecord&) = default;

  static constexpr std::uint32_t kWhole = 1'000'000;
  static constexpr std::uint32_t kMost = 2'000'000;  ///< counters of several passes may say a little more than all
};

/// What the capture can be trusted with.
struct Fidelity {
  bool has_durations = true;  ///< operations carry measured device time
  bool has_calls = false;     ///< launches and waits of the host are recorded
  bool has_frames = false;
  bool per_frame = true;              ///< false: a sampled log; its frames are a sample of a distribution
  bool integer_microseconds = false;  ///< the source rounds to whole microseconds
  bool has_times = true;              ///< false: only an ordered list (Orion profiles); starts are made up back to back
  bool host_gaps_inflated = false;    ///< a profiler slowed the host down (PyTorch's profiler does)
  bool co_run = false;                ///< other contexts used the device: durations contain time away
  friend bool operator==(const Fidelity&, const Fidelity&) = default;
};

/// The device the capture was made on, as far as the source states it. 0 / empty = not stated.
struct CapturedDevice {
  std::string name;
  std::uint32_t sm_count = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint32_t shared_memory_per_sm_bytes = 0;
  friend bool operator==(const CapturedDevice&, const CapturedDevice&) = default;
};

/// How fast an untraced pass launched: the same command, run once more with nothing but a counter of launches in it.
///
/// Launches are the driver's calls that launch kernels or graphs. Tracing costs host time at every call; this rate is
/// free of it.
struct UntracedRate {
  std::uint64_t launches = 0;
  std::int64_t duration_ns = 0;  ///< in which they were made
  std::uint32_t jitter_ppm = 0;  ///< coefficient of variation of the rate over ten equal stretches, in millionths
  friend bool operator==(const UntracedRate&, const UntracedRate&) = default;

  double launches_per_s() const { return static_cast<double>(launches) * 1e9 / static_cast<double>(duration_ns); }
};

/// Where a figure about device memory comes from, and with it what the figure leaves out.
enum class MemorySource : std::uint8_t {
  kReserved =
      0,  ///< reserved by a framework's allocator (PyTorch): contexts, libraries and other allocators are missing
  kAllocated = 1,  ///< allocated through CUDA, pools included: contexts and the code of kernels are missing
  kInUse = 2,      ///< what the driver says is in use on the device: nothing is missing; other programs may be in it
};
/// "reserved by the framework", "allocated through CUDA", "in use on the device".
std::string_view to_string(MemorySource source);

/// The most device memory that a program held at once while the capture saw it. A capture that begins late may have
/// missed a higher peak.
struct MemoryPeak {
  std::uint32_t device = 0;   ///< as QueueRecord::device
  std::uint64_t process = 0;  ///< as QueueRecord::process; 0: not known
  std::uint64_t bytes = 0;    ///< 1 to kMostBytes
  MemorySource source = MemorySource::kReserved;
  friend auto operator<=>(const MemoryPeak&, const MemoryPeak&) = default;

  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;  ///< more is no figure of a device
};

/// What a device drew on average while the operations of a capture ran on it, and the clock of its SMs meanwhile.
struct PowerMean {
  std::uint32_t device = 0;  ///< as QueueRecord::device
  double watts = 0.0;        ///< of the whole board, (0, kMostWatts]
  double sm_mhz = 0.0;       ///< (0, kMostMhz]; 0 = not known
  friend auto operator<=>(const PowerMean&, const PowerMean&) = default;

  static constexpr double kMostWatts = 100'000, kMostMhz = 100'000;  ///< more is no figure of a device
};

/// What a host thread of the program had of the CPU while its operations ran, as the operating system's scheduler
/// counts it. A thread that spins while it waits for the device runs, too.
struct HostUse {
  std::uint64_t process = 0, thread = 0;  ///< as ThreadRecord
  std::int64_t span_ns = 0;               ///< over which it was watched, > 0
  std::int64_t running_ns = 0;            ///< of that, on a core
  std::int64_t waiting_ns = 0;            ///< of that, able to run and without a core: other programs had it
  friend auto operator<=>(const HostUse&, const HostUse&) = default;
};

/// Where a timeline came from and what was lost on the way.
struct Provenance {
  std::string source_format;      ///< importer's name: "kineto", "nsys", "presentmon", ..., "corun"
  std::string source_version;     ///< schema or tool version, as found
  std::string source_file;        ///< base name only
  std::string content_hash;       ///< XXH3-128 of the source bytes, lower-case hex
  std::string clock = "unknown";  ///< clock of the source: "unix_epoch", "capture_start", "qpc", "monotonic"
  std::int64_t origin_ns = 0;     ///< instant of the source's clock that is 0 here
  std::vector<CapturedDevice> devices;
  std::map<std::string, std::uint64_t> skipped;   ///< bad records left out, by reason
  std::vector<std::string> skipped_examples;      ///< "file:line: reason", the first few of each reason
  std::vector<std::string> notes;                 ///< quirks of the source, one sentence each
  std::map<std::uint64_t, std::string> programs;  ///< name of each process, where the source has it
  std::optional<UntracedRate> untraced_rate;      ///< where an untraced pass was made
  std::int64_t tracer_ns = 0;                     ///< host time that the capture itself took, as far as it was seen
  std::vector<MemoryPeak> memory_peaks;           ///< in order of device, process and source; see Timeline
  std::vector<PowerMean> power;                   ///< of devices whose draw was recorded
  std::vector<HostUse> host_use;                  ///< of threads that call the driver, where it was recorded
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Everything one capture says happened: immutable once built, shared by all runs that replay it.
///
/// Times are integer nanoseconds from the timeline's origin (its earliest operation, call or frame is at 0 or later).
/// Indices stored in rows are valid by construction: TimelineBuilder::seal() checks them. Threads: any number may read.
class Timeline {
 public:
  const std::vector<OpRecord>& ops() const { return ops_; }
  const std::vector<CallRecord>& calls() const { return calls_; }
  const std::vector<FrameRecord>& frames() const { return frames_; }
  const std::vector<MarkRecord>& marks() const { return marks_; }
  const std::vector<DrawRecord>& draws() const { return draws_; }
  const std::vector<CounterRecord>& counters() const { return counters_; }
  const std::vector<QueueRecord>& queues() const { return queues_; }
  const std::vector<ThreadRecord>& threads() const { return threads_; }
  const std::vector<SwapchainRecord>& swapchains() const { return swapchains_; }
  const std::vector<LaunchShape>& shapes() const { return shapes_; }
  const std::vector<std::string>& strings() const { return strings_; }
  const Provenance& provenance() const { return provenance_; }
  const Fidelity& fidelity() const { return fidelity_; }

  /// What is known of the device memory that the programs of the capture need: at most one row for each device, process
  /// and source. Empty where the capture does not say.
  const std::vector<MemoryPeak>& memory_peaks() const { return provenance_.memory_peaks; }

  /// Text of a string id; "" for none.
  std::string_view text(StringId id) const;

  /// Frees the memory of calls or operations, for an owner that has taken from them what it needs. Indices into them
  /// mean nothing after it.
  void forget_calls() { calls_ = std::vector<CallRecord>(); }
  void forget_ops() { ops_ = std::vector<OpRecord>(); }

  /// Replaces the counters: kernels may be counted after the capture was made. Throws Error(kInput) as seal() does.
  void set_counters(std::vector<CounterRecord> counters);

  friend bool operator==(const Timeline&, const Timeline&) = default;

 private:
  friend class TimelineBuilder;
  std::vector<OpRecord> ops_;
  std::vector<CallRecord> calls_;
  std::vector<FrameRecord> frames_;
  std::vector<MarkRecord> marks_;
  std::vector<DrawRecord> draws_;
  std::vector<CounterRecord> counters_;
  std::vector<QueueRecord> queues_;
  std::vector<ThreadRecord> threads_;
  std::vector<SwapchainRecord> swapchains_;
  std::vector<LaunchShape> shapes_;
  std::vector<std::string> strings_;
  Provenance provenance_;
  Fidelity fidelity_;
};

/// First and last instant at which some rows begin; the first is the later one where there are none.
struct RowSpan {
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
};

/// Longest time that a timeline holds: 73 years. Sums of a few instants and durations below it cannot overflow, and
/// instants since 1970 fit until 2043.
inline constexpr std::int64_t kLongestNs = INT64_MAX / 4;

/// Takes operations and calls as they are read, many at a time, in place of a timeline (TimelineBuilder::divert).
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// So many rows may come.
  virtual void reserve(std::size_t ops, std::size_t calls) = 0;
  virtual void add(std::span<const OpRecord> ops) = 0;
  virtual void add(std::span<const CallRecord> calls) = 0;
  virtual RowSpan span() const = 0;
};

/// Collects rows in any order, then seals them into a Timeline. One builder makes one timeline; one thread.
///
/// Rows may be added unsorted, and the indices returned by the add functions stay meaningful until seal(), which sorts
/// operations, calls, frames, marks and draws by time and renumbers the references between them.
class TimelineBuilder {
 public:
  StringId intern(std::string_view text);
  std::uint32_t queue(const QueueRecord& queue);  ///< index of an equal queue, added if new
  std::uint32_t thread(const ThreadRecord& thread);
  bool has_thread(const ThreadRecord& thread) const;
  std::uint32_t swapchain(const SwapchainRecord& swapchain);
  std::uint32_t shape(const LaunchShape& shape);

  void reserve(std::size_t ops, std::size_t calls);
  std::uint32_t add(const OpRecord& op);
  std::uint32_t add(const CallRecord& call);
  void add(std::span<const OpRecord> ops);
  void add(std::span<const CallRecord> calls);
  void add(const FrameRecord& frame) { timeline_.frames_.push_back(frame); }
  void add(const MarkRecord& mark) { timeline_.marks_.push_back(mark); }
  void add(const DrawRecord& draw) { timeline_.draws_.push_back(draw); }
  void add(const CounterRecord& counter) { timeline_.counters_.push_back(counter); }
  OpRecord& op(std::uint32_t index) { return timeline_.ops_[index]; }
  CallRecord& call(std::uint32_t index) { return timeline_.calls_[index]; }
  std::size_t op_count() const { return timeline_.ops_.size(); }
  std::size_t call_count() const { return timeline_.calls_.size(); }

  /// Operations and calls go to `sink` from now on, and the sealed timeline has none of them. Its origin is that of all
  /// rows together.
  void divert(RowSink& sink) { sink_ = &sink; }

  /// A program holds so much device memory at some instant: the timeline keeps the most of each device, process and
  /// source. 0 bytes, and more than MemoryPeak::kMostBytes, say nothing.
  void note_memory(const MemoryPeak& held);

  /// Counts a record that was left out. `where` is "file:line" or "file: byte N"; the first three per reason are kept.
  void skip(std::string_view reason, std::string_view where);

  Provenance& provenance() { return timeline_.provenance_; }
  Fidelity& fidelity() { return timeline_.fidelity_; }

  /// Sorts, renumbers, moves the origin so that the earliest row is at 0 (adding what was taken off to
  /// Provenance::origin_ns), checks every index and duration. Throws Error(kInput) naming the row on a violation.
  Timeline seal() &&;

 private:
  void sort_rows();
  void move_origin();

  Timeline timeline_;
  RowSink* sink_ = nullptr;
  std::unordered_map<std::string, std::uint32_t> string_index_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> queue_index_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> shape_index_;
};

/// The counts that `simcli info` prints.
struct TimelineSummary {
  std::uint64_t kernels = 0;  ///< OpKind::kKernel
  std::uint64_t memops = 0;   ///< copies and memsets
  std::uint64_t frames = 0;
  std::uint64_t streams = 0;  ///< queues that carry at least one operation
  std::int64_t span_ns = 0;   ///< first operation's start to last one's end; without operations, first present to last
  std::int64_t busy_ns = 0;  ///< in which an operation ran on any GPU; without operations, sum of frames' GPU busy time
};
TimelineSummary summarize(const Timeline& timeline);

}  // namespace corun
