// A libcupti.so.13 without a GPU: it knows the functions that the tracer calls and does what a script says.
//
// The file that FAKE_CUPTI_SCRIPT names has a command in each line:
//   version N           of the library (130000)
//   fail FUNCTION CODE  the function does nothing and returns the code
//   drop N              N records were dropped before the first buffer was complete
//   no_time N           the first N kernels and their calls have no time
//   garbage             every buffer ends with a record that contradicts itself
//   break_off           going through a buffer fails after the first record
//   hold                buffers are handed back by a forced flush only, and a buffer holds one launch
//   late_callback       after all exit handlers of the program, buffers are asked for and completed
//   call N A B          fake_cuda_calls() calls the driver's function N with the handles A and B (hexadecimal)
//   failing_call N A B  ... which fails
//   long_call N A B     ... which returns only after the next call
//   hang                a flush never comes back
#include "tests/tracer/cuda/fake_cupti.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tracer/cuda/cupti_abi.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION 130000
#endif
#define EXPORTED extern "C" __attribute__((visibility("default")))

using namespace corun::cupti;

namespace {

constexpr std::size_t kSlot = 256;  // every record takes as much
constexpr std::uint32_t kRuntimeLaunch = 211;
constexpr std::uint32_t kDriverLaunch = 307;
constexpr std::uint32_t kDriverRecordEvent = 119;
constexpr Result kInvalidStream = 22;
constexpr Result kInvalidKind = 21;
constexpr std::uint32_t kContextId = 1;
constexpr std::uint32_t kDefaultStream = 7;
constexpr std::uint32_t kStreamOfThread = 9;
constexpr std::uintptr_t kStreamOfAnotherContext = 0xBAD;

struct ScriptedCall {
  std::string manner;
  std::uint32_t function = 0;
  std::uintptr_t handles[2] = {};
};

struct Script {
  std::map<std::string, long> numbers;
  std::map<std::string, Result> failures;
  std::vector<ScriptedCall> calls;
};

struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

// Calls the tracer back, and ends a program whose errno was not kept.
template <class Function, class... Arguments>
void call_tracer(Function function, Arguments... arguments) {
  const int before = std::exchange(errno, ELOOP);
  function(arguments...);
  if (errno != ELOOP) {
    std::fputs("errno was not kept\n", stderr);
    _exit(9);
  }
  errno = before;
}

class Fake {
 public:
  Fake() {
    const char* path = std::getenv("FAKE_CUPTI_SCRIPT");
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) read(line);
  }

  Result failure(const std::string& function) const {
    const auto found = script_.failures.find(function);
    return found == script_.failures.end() ? kSuccess : found->second;
  }
  bool is_told(const std::string& command) const { return script_.numbers.contains(command); }
  long number(const std::string& command, long otherwise) const {
    return is_told(command) ? script_.numbers.at(command) : otherwise;
  }

  void enable(Kind kind, bool is_dumped) {
    const std::lock_guard lock(mutex_);
    kinds_.insert(kind);
    if (is_dumped) dump(kind);
  }

  void disable(Kind kind) {
    const std::lock_guard lock(mutex_);
    kinds_.erase(kind);
    changed_.notify_all();
  }

  void await_disabled() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::minutes(1),
                      [&] { return !kinds_.contains(Kind::kConcurrentKernel) && !callbacks_.contains(kDriverLaunch); });
  }

  void switch_function(Kind kind, std::uint32_t function, bool is_on) {
    const std::lock_guard lock(mutex_);
    if (is_on) {
      functions_.insert({kind, function});
    } else {
      functions_.erase({kind, function});
    }
  }

  void switch_callback(std::uint32_t function, bool is_on) {
    const std::lock_guard lock(mutex_);
    if (is_on) {
      callbacks_.insert(function);
    } else {
      callbacks_.erase(function);
    }
    changed_.notify_all();
  }

  void launch() {
    const std::uint32_t correlation = call_back(kSiteEnter, kDriverLaunch, ++correlation_);
    call_back(kSiteExit, kDriverLaunch, correlation);
    const std::lock_guard lock(mutex_);
    const bool has_time = static_cast<long>(correlation) > number("no_time", 0);
    const std::uint64_t begin = has_time ? now() : 0;
    if (kinds_.contains(Kind::kConcurrentKernel)) add(kernel(correlation, begin));
    add_call(Kind::kDriver, kDriverLaunch, correlation, begin);
    add_call(Kind::kRuntime, kRuntimeLaunch, correlation, begin);
    if (is_told("hold")) held_.push_back(std::exchange(buffer_, {}));
  }

  void make_calls() {
    std::function<void()> leave = [] {};
    for (const ScriptedCall& call : script_.calls) {
      const Result result = call.manner == "failing_call" ? 1 : 0;
      const std::uint64_t begin = now();
      const std::uint32_t correlation = call_back(kSiteEnter, call.function, ++correlation_, call.handles);
      const auto leave_this = [=, this] {
        call_back(kSiteExit, call.function, correlation, call.handles, &result);
        const std::lock_guard lock(mutex_);
        add_call(Kind::kDriver, call.function, correlation, begin);
      };
      if (call.manner != "long_call") leave_this();
      std::exchange(leave, call.manner == "long_call" ? leave_this : std::function<void()>([] {}))();
    }
    leave();
  }

  Result stream_id(const void* context, const void* stream, bool is_of_thread, std::uint32_t& id) const {
    const auto handle = reinterpret_cast<std::uintptr_t>(stream);
    if (context != this || handle == kStreamOfAnotherContext) return kInvalidStream;
    id = is_of_thread ? kStreamOfThread : kDefaultStream;
    if (handle != 0) id = static_cast<std::uint32_t>(handle);
    return kSuccess;
  }

  void flush(std::uint32_t flags) {
    if (is_told("hang")) pause();
    const std::lock_guard lock(mutex_);
    if (is_told("hold") && flags != kFlushForced) return;
    for (Buffer& buffer : held_) complete(buffer);
    held_.clear();
    complete(buffer_);
  }

  long take_dropped() { return std::exchange(script_.numbers["drop"], 0); }

  void call_late() {
    if (!is_told("late_callback") || request == nullptr) return;
    add(kernel(999, now()));
    complete(buffer_);
    const std::uintptr_t handles[] = {0x1000, 0x20};
    for (const std::uint32_t function : {kDriverLaunch, kDriverRecordEvent}) {
      callbacks_.insert(function);
      for (const std::uint32_t site : {kSiteEnter, kSiteExit}) call_back(site, function, 999, handles);
    }
  }

  RequestBuffer request = nullptr;
  CompleteBuffer completed = nullptr;
  Timestamp timestamp = nullptr;
  Callback callback = nullptr;

 private:
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string command, function;
    words >> command;
    if (command.ends_with("call")) {
      ScriptedCall call{.manner = command};
      words >> call.function >> std::hex >> call.handles[0] >> call.handles[1];
      script_.calls.push_back(call);
      return;
    }
    if (command != "fail") {
      words >> script_.numbers[command];
      return;
    }
    words >> function;
    words >> script_.failures[function];
  }

  std::uint64_t now() const { return timestamp == nullptr ? 1 : timestamp(); }

  // Returns the correlation.
  std::uint32_t call_back(std::uint32_t site, std::uint32_t function, std::uint32_t correlation,
                          const void* parameters = nullptr, const Result* result = nullptr) {
    std::unique_lock lock(mutex_);
    const bool is_called_back = callback != nullptr && callbacks_.contains(function);
    lock.unlock();
    CallbackSite told{};
    told.site = site;
    told.parameters = parameters;
    told.result = result;
    told.context = this;
    told.context_id = kContextId;
    told.correlation = correlation;
    if (is_called_back) call_tracer(callback, nullptr, kDomainDriver, function, &told);
    return correlation;
  }

  static Kernel kernel(std::uint32_t correlation, std::uint64_t start) {
    Kernel kernel{};
    kernel.kind = Kind::kConcurrentKernel;
    kernel.start = start;
    kernel.end = start == 0 ? 0 : start + 100;
    kernel.stream = kDefaultStream;
    kernel.grid_x = kernel.grid_y = kernel.grid_z = kernel.block_x = kernel.block_y = kernel.block_z = 1;
    kernel.correlation = correlation;
    kernel.name = correlation % 2 == 0 ? "even" : "odd";
    return kernel;
  }

  void add_call(Kind kind, std::uint32_t function, std::uint32_t correlation, std::uint64_t start) {
    if (!kinds_.contains(kind) && !functions_.contains({kind, function})) return;
    Call call{};
    call.kind = kind;
    call.function = function;
    call.start = start;
    call.end = start == 0 ? 0 : start + 10;
    call.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    call.correlation = correlation;
    add(call);
  }

  void dump(Kind kind) {
    if (kind == Kind::kDevice) add(Device{.kind = kind, .sm_count = 132, .name = "a fake"});
    if (kind == Kind::kContext) add(Context{.kind = kind, .context = kContextId});
    if (kind == Kind::kStream)
      add(Stream{.kind = kind, .context = kContextId, .stream = kDefaultStream, .flag = kStreamIsDefault});
  }

  template <class Record>
  void add(const Record& record) {
    static_assert(sizeof(Record) <= kSlot);
    if (request == nullptr) return;
    if (buffer_.bytes == nullptr) {
      std::size_t most_records = 0;
      call_tracer(request, &buffer_.bytes, &buffer_.size, &most_records);
    }
    std::memcpy(buffer_.bytes + buffer_.used, &record, sizeof(record));
    buffer_.used += kSlot;
    if (buffer_.used + 2 * kSlot > buffer_.size) complete(buffer_);
  }

  void complete(Buffer& buffer) {
    if (buffer.bytes == nullptr) return;
    if (is_told("garbage")) {
      Kernel bad = kernel(0, 1000);
      bad.end = 1;
      std::memcpy(buffer.bytes + buffer.used, &bad, sizeof(bad));
      buffer.used += kSlot;
    }
    call_tracer(completed, nullptr, 0, buffer.bytes, buffer.size, buffer.used);
    buffer = {};
  }

  Script script_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Kind> kinds_;
  std::set<std::pair<Kind, std::uint32_t>> functions_;
  std::set<std::uint32_t> callbacks_;
  std::atomic<std::uint32_t> correlation_ = 0;
  Buffer buffer_;
  std::vector<Buffer> held_;
};

Fake& fake() {
  static Fake* const only = new Fake;  // outlives all exit handlers
  return *only;
}

// The first exit handler to be registered is the last to run.
__attribute__((constructor)) void call_late_at_exit() {
  std::atexit([] { fake().call_late(); });
}

}  // namespace

#define OR_FAIL                                                                                  \
  do {                                                                                           \
    if (const Result scripted = fake().failure(__func__); scripted != kSuccess) return scripted; \
  } while (false)

EXPORTED void fake_cuda_launch(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) fake().launch();
}

EXPORTED void fake_cuda_calls() { fake().make_calls(); }

EXPORTED void fake_cuda_await_disabled() { fake().await_disabled(); }

EXPORTED Result cuptiGetVersion(std::uint32_t* version) {
  OR_FAIL;
  *version = static_cast<std::uint32_t>(fake().number("version", FAKE_VERSION));
  return kSuccess;
}

EXPORTED Result cuptiSubscribe(Subscriber* subscriber, Callback callback, void*) {
  OR_FAIL;
  *subscriber = &fake();
  fake().callback = callback;
  return kSuccess;
}

EXPORTED Result cuptiUnsubscribe(Subscriber) {
  OR_FAIL;
  fake().callback = nullptr;
  return kSuccess;
}

EXPORTED Result cuptiEnableCallback(std::uint32_t enable, Subscriber, std::uint32_t, std::uint32_t function) {
  OR_FAIL;
  fake().switch_callback(function, enable != 0);
  return kSuccess;
}

EXPORTED Result cuptiSetThreadIdType(std::uint32_t) {
  OR_FAIL;
  return kSuccess;
}

EXPORTED Result cuptiActivityRegisterTimestampCallback(Timestamp timestamp) {
  OR_FAIL;
  fake().timestamp = timestamp;
  return kSuccess;
}

EXPORTED Result cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  OR_FAIL;
  fake().request = request;
  fake().completed = complete;
  return kSuccess;
}

EXPORTED Result cuptiActivityEnable(Kind kind) {
  OR_FAIL;
  if (const Result scripted = fake().failure("kind" + std::to_string(static_cast<unsigned>(kind)))) return scripted;
  fake().enable(kind, false);
  return kSuccess;
}

EXPORTED Result cuptiActivityDisable(Kind kind) {
  OR_FAIL;
  fake().disable(kind);
  return kSuccess;
}

EXPORTED Result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, Activity** record) {
  OR_FAIL;
  errno = EAGAIN;
  auto* const last = reinterpret_cast<std::uint8_t*>(*record);
  std::uint8_t* const next = last == nullptr ? buffer : last + kSlot;
  if (next >= buffer + valid) return kEndOfBuffer;
  if (last != nullptr && fake().is_told("break_off")) return kInvalidKind;
  *record = reinterpret_cast<Activity*>(next);
  return kSuccess;
}

EXPORTED Result cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  OR_FAIL;
  *dropped = static_cast<std::size_t>(fake().take_dropped());
  return kSuccess;
}

#ifndef FAKE_WITHOUT_FLUSH
EXPORTED Result cuptiActivityFlushAll(std::uint32_t flags) {
  OR_FAIL;
  fake().flush(flags);
  return kSuccess;
}
#endif

#ifndef FAKE_WITHOUT_OPTIONAL
EXPORTED Result cuptiActivitySetAttribute(std::uint32_t, std::size_t*, void*) {
  OR_FAIL;
  return kSuccess;
}

EXPORTED Result cuptiActivityEnableAndDump(Kind kind) {
  OR_FAIL;
  fake().enable(kind, true);
  return kSuccess;
}

EXPORTED Result cuptiActivityEnableDriverApi(std::uint32_t function, std::uint8_t is_on) {
  OR_FAIL;
  fake().switch_function(Kind::kDriver, function, is_on != 0);
  return kSuccess;
}

EXPORTED Result cuptiGetStreamIdEx(void* context, void* stream, std::uint8_t is_of_thread, std::uint32_t* id) {
  OR_FAIL;
  errno = EAGAIN;
  return fake().stream_id(context, stream, is_of_thread != 0, *id);
}
#endif
