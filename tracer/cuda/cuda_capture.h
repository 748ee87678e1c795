#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/cuda/buffer_pool.h"
#include "tracer/cuda/cupti_abi.h"
#include "tracer/cuda/cupti_decode.h"
#include "tracer/cuda/cupti_library.h"
#include "tracer/cuda/flush_thread.h"
#include "tracer/cuda/wait_log.h"
#include "tracer/guest/part_file.h"

namespace corun::cupti {

/// The functions that CUPTI and the flush thread call back: they have no argument to find a capture by.
struct Hooks {
  Callback call;
  RequestBuffer request_buffer;
  CompleteBuffer complete_buffer;
  FlushThread::Work work;
};

/// Records the CUDA work of this process through CUPTI into a part, from start() on until the window asked for or the
/// process ends.
///
/// All the work of a process is CUPTI's to report once, so there is one capture in a process. Whatever goes wrong
/// ends the recording, says why in the part and leaves the program as it would be without it. What CUPTI refuses
/// although a capture can do without (sizes of devices, contexts' switches) is named in the part's EndRecord.
/// The object is never destroyed: CUPTI may call back until the process is gone.
class CudaCapture {
 public:
  /// Loads CUPTI, opens the part, subscribes and enables what the settings ask for. False where nothing is recorded.
  bool start(const guest::Settings& settings, const Hooks& hooks);
  /// The process ends: takes what CUPTI still has, for at most kPatienceNs, and closes the part.
  void finish();
  /// In the child of a fork: forgets the capture, which is the parent's.
  void abandon();

  void on_call(std::uint32_t domain, std::uint32_t function, const CallbackSite& site);

  /// Ranges that the program names are kept while this is true.
  bool takes_ranges() const { return is_recording_.load(std::memory_order_relaxed) && has_activities(); }
  /// Number of the name in the part. Behind kMostRangeNames different ones numbers in names count as one ("step #");
  /// behind twice as many a range is lost, and 0. Under --redact names the part does not have the true name.
  std::uint32_t range_name(const char* name);
  void on_range(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t name);

  std::uint8_t* request_buffer() { return pool_.take(); }
  void complete_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);
  /// The flush thread's work: see FlushThread::Work.
  std::int64_t work(bool is_last);

  /// How often CUPTI's complete records go to the disk: a killed process loses less than its last second.
  static constexpr std::int64_t kFlushEveryNs = 500'000'000;
  static constexpr std::int64_t kPatienceNs = 2'000'000'000;
  static constexpr std::uint32_t kMostRangeNames = 8'192;
  /// After the window, work that was submitted in it may still run for so long.
  static constexpr std::int64_t kTailNs = 250'000'000;

 private:
  bool subscribe(Callback callback);
  bool prepare_buffers(const Hooks& hooks);
  bool enable();
  bool enable_activities();
  bool enable_kind(Kind kind, bool is_needed, bool is_dumped);
  bool enable_calls();
  bool enable_launch_callbacks();
  void disable();

  bool stop(part::EndReason reason, std::uint32_t detail, const char* text);
  bool need(Result result, const char* what);
  void try_out(Result result, const char* what);

  bool has_activities() const { return detail_ == part::Detail::kKernels || detail_ == part::Detail::kCalls; }
  void flush(std::uint32_t flags);
  std::int64_t give_up();
  std::int64_t close_window();
  void end(part::EndReason reason);
  void read(std::uint8_t* buffer, std::size_t valid, bool is_kept);
  void keep(Decoded& decoded);
  void log_wait(std::uint32_t function, const CallbackSite& site);
  void add_own_time();
  void count_launch();

  Library cupti_;
  Subscriber subscriber_ = nullptr;
  BufferPool pool_;
  FlushThread flusher_;
  WaitLog waits_;  // Detail::kCalls
  guest::PartFile part_;
  pid_t process_ = 0;  // whose capture this is
  part::Detail detail_ = part::Detail::kNone;
  std::int64_t from_ns_ = 0;
  std::int64_t until_ns_ = INT64_MAX;
  char refused_[96] = {};                   // the first thing CUPTI refused that we can do without
  std::atomic<bool> is_recording_{false};   // records are read; else buffers are only taken back
  std::atomic<std::uint64_t> launches_{0};  // Detail::kCount
  std::atomic<std::uint32_t> newest_range_name_{0};
  std::atomic<std::uint32_t> range_names_{0};  // how many
  std::atomic<std::int64_t> own_ns_{0};        // Detail::kCalls: in callbacks, not yet written down
};

}  // namespace corun::cupti
