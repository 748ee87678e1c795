#include "tracer/guest/part_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/guest/append_file.h"
#include "tracer/guest/background.h"
#include "tracer/guest/chunk_frame.h"
#include "tracer/guest/text_table.h"

namespace corun::guest {

namespace {

constexpr int kWriterNice = 10;
constexpr std::size_t kWriterStack = 128 * 1024;
constexpr std::size_t kReasons = 16;

// A caller that comes in again on the same thread (a signal handler that draws) must not wait for itself.
__thread bool is_inside __attribute__((tls_model("initial-exec"))) = false;

class Inside {
 public:
  Inside() : was_inside_(is_inside) { is_inside = true; }
  ~Inside() { is_inside = was_inside_; }
  bool was_inside() const { return was_inside_; }

 private:
  bool was_inside_;
};

struct Buffer {
  unsigned char bytes[PartFile::kBufferBytes];
  std::size_t used;  // payload prefix included
  std::uint32_t rows;
};

std::uint64_t start_ticks() {
  char text[1024];
  FILE* file = fopen("/proc/self/stat", "re");
  if (file == nullptr) return 0;
  const std::size_t length = fread(text, 1, sizeof(text) - 1, file);
  fclose(file);
  text[length] = '\0';
  const char* at = strrchr(text, ')');  // field 2 may hold anything, blanks too
  for (int field = 2; at != nullptr && field < 22; ++field) at = strchr(at + 1, ' ');
  return at == nullptr ? 0 : strtoull(at + 1, nullptr, 10);
}

std::int64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

const char* name_of(part::Source source) {
  if (source == part::Source::kCuda) return "cuda";
  return source == part::Source::kGl ? "gl" : "vulkan";
}

PartFile* open_part = nullptr;

void abandon_open_part() {
  if (open_part != nullptr) open_part->abandon();
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

std::uint32_t thread_id() {
  static __thread std::uint32_t cached __attribute__((tls_model("initial-exec"))) = 0;
  static __thread pid_t cached_for __attribute__((tls_model("initial-exec"))) = 0;
  const pid_t process = getpid();
  if (cached_for != process) {  // the child of a fork has a number of its own
    cached = static_cast<std::uint32_t>(syscall(SYS_gettid));
    cached_for = process;
  }
  return cached;
}

/// Lives in zeroed memory of its own. Buffers are a ring: [written_, filled_) are full, filled_ % kBuffers is being
/// filled, the rest is free.
struct PartFile::State {
  pthread_mutex_t lock;  // of everything but `file`; held for copies only
  pthread_cond_t wake;   // the writer: a buffer is full, or the part is closing
  pthread_cond_t done;   // close(): the writer has finished
  std::uint64_t filled, written;
  bool is_closing, is_done;
  bool is_pushed;  // the buffer that is being filled is to be written
  bool is_redacted;
  bool* is_part_open;  // of the PartFile, which outlives its writer
  std::uint64_t lost[kReasons];
  part::EndRecord end;
  AppendFile file;  // the writer's own once it runs
  TextTable texts;
  TextTable kernel_names;                         // under redaction: the true names, which stay in this process
  std::uint32_t redacted[TextTable::kMostTexts];  // text id of kernel name n, from 0
  Buffer buffers[kBuffers];

  Buffer& filling() { return buffers[filled % kBuffers]; }

  void begin_buffer() {
    filling().used = kPayloadPrefix;
    filling().rows = 0;
  }

  // False where the writer is so far behind that no buffer is free.
  bool next_buffer() {
    if (filled - written == kBuffers - 1) return false;
    ++filled;
    begin_buffer();
    pthread_cond_signal(&wake);
    return true;
  }

  bool put(const part::RecordHead& record, const void* more = nullptr, std::size_t more_bytes = 0) {
    const std::size_t own = record.size - ((more_bytes + 7) & ~std::size_t{7});
    if (filling().used + record.size > kBufferBytes && !next_buffer()) {
      ++lost[static_cast<std::size_t>(part::LossReason::kRingFull)];
      return false;
    }
    Buffer& buffer = filling();
    unsigned char* at = buffer.bytes + buffer.used;
    memset(at + own, 0, record.size - own);
    memcpy(at, &record, own);
    if (more_bytes > 0) memcpy(at + own, more, more_bytes);
    buffer.used += record.size;
    ++buffer.rows;
    return true;
  }

  void put_lost() {
    for (std::size_t reason = 0; reason < kReasons; ++reason) {
      if (lost[reason] == 0) continue;
      const part::LostRecord record{
          {part::RecordType::kLost, sizeof(record), 0}, lost[reason], static_cast<part::LossReason>(reason), 0};
      if (put(record.head)) lost[reason] = 0;
    }
  }

  std::uint32_t put_text(const char* text, std::uint32_t length) {
    std::uint32_t id = texts.find(text, length);
    if (id != 0) return id;
    const auto size = static_cast<std::uint16_t>(sizeof(part::TextRecord) + ((length + 7) & ~7u));
    const part::TextRecord record{{part::RecordType::kText, size, 0}, texts.count() + 1, length};
    if (!texts.has_room(length) || !put(record.head, text, length)) return 0;
    return texts.keep(text, length);
  }

  std::uint32_t put_redacted(const char* kind, const char* name, std::uint32_t length) {
    std::uint32_t number = kernel_names.find(name, length);
    if (number == 0) number = kernel_names.keep(name, length);
    if (number == 0) return 0;
    if (redacted[number - 1] == 0) {
      char text[48];
      const int size = snprintf(text, sizeof(text), "%s_%d_%u", kind, static_cast<int>(getpid()), number);
      redacted[number - 1] = put_text(text, static_cast<std::uint32_t>(size));
    }
    return redacted[number - 1];
  }

  bool write(Buffer& buffer, bool is_last = false) {
    unsigned char prefix[kPayloadPrefix];
    write_payload_prefix(prefix, buffer.used - kPayloadPrefix);
    memcpy(buffer.bytes, prefix, sizeof(prefix));
    return file.append(buffer.bytes, buffer.used, buffer.rows, is_last);
  }

  void count_unwritten(std::uint64_t rows) {
    const bool is_too_large = file.failure() == part::EndReason::kMaxSize;
    const auto reason = is_too_large ? part::LossReason::kTooLarge : part::LossReason::kWriteFailed;
    lost[static_cast<std::size_t>(reason)] += rows;
  }

  // Writes every full buffer. Called and left with `lock` held.
  void drain() {
    while (written < filled) {
      Buffer& full = buffers[written % kBuffers];
      pthread_mutex_unlock(&lock);
      const bool is_written = write(full);
      pthread_mutex_lock(&lock);
      if (!is_written) count_unwritten(full.rows);
      ++written;
    }
  }

  // Waits until a buffer is full or a second has passed since `since`. False where all there is should be written.
  bool wait(std::int64_t since) {
    const timespec until = to_timespec(since + kSecondNs);
    int result = 0;
    while (result == 0 && written == filled && !is_closing && !is_pushed) {
      result = pthread_cond_timedwait(&wake, &lock, &until);
    }
    return result == 0 && !is_closing && !is_pushed;
  }

  // False where the part is closing already: the first reason stays.
  bool begin_closing(part::EndReason reason, std::uint32_t detail, std::uint32_t sentence) {
    if (is_closing) return false;
    end.at_ns = monotonic_ns();
    end.reason = reason;
    end.detail = detail;
    end.text = sentence;
    is_closing = true;
    pthread_cond_signal(&wake);
    return true;
  }

  void write_all() {
    drain();
    put_lost();
    if (filling().rows > 0) next_buffer();
    drain();
  }

  void write_last_words() {
    if (file.has_failed()) {
      if (end.at_ns == 0) end.at_ns = monotonic_ns();
      end.reason = file.failure();
      end.detail = file.detail();
    }
    if (filling().rows > 0 && file.has_failed()) count_unwritten(filling().rows);  // full ones are written by now
    begin_buffer();
    put_lost();
    end.head = {part::RecordType::kEnd, sizeof(end), 0};
    put(end.head);
    write(filling(), true);
    file.close();
  }

  void run() {
    pthread_mutex_lock(&lock);
    while (!is_closing) {
      const std::int64_t since = monotonic_ns();
      while (wait(since)) drain();
      is_pushed = false;
      write_all();
      if (file.has_failed()) is_closing = true;
    }
    __atomic_store_n(is_part_open, false, __ATOMIC_RELEASE);
    write_all();
    write_last_words();
    is_done = true;
    pthread_cond_broadcast(&done);
    pthread_mutex_unlock(&lock);
  }

  static void* run_thread(void* state) {
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kWriterNice);
    static_cast<State*>(state)->run();
    return nullptr;
  }

  void prepare() {
    pthread_mutex_init(&lock, nullptr);
    init_monotonic(wake);
    init_monotonic(done);
    begin_buffer();
  }

  void put_process(part::Source source, part::Detail detail, std::uint64_t ticks, std::uint32_t api_version) {
    char name[256];
    program_name(name, sizeof(name));
    part::ProcessRecord process{};
    process.head = {part::RecordType::kProcess, sizeof(process), 0};
    process.source = source;
    process.detail = detail;
    process.process = static_cast<std::uint32_t>(getpid());
    process.program = 1;
    process.start_ticks = ticks;
    process.monotonic_ns = monotonic_ns();
    process.realtime_ns = realtime_ns();
    process.version = part::kVersion;
    process.api_version = api_version;
    put(process.head);
    put_text(name, static_cast<std::uint32_t>(strlen(name)));
  }
};

bool PartFile::open(const Settings& settings, part::Source source, part::Detail detail, std::uint32_t api_version) {
  if (state_ != nullptr || settings.directory[0] == '\0') return false;
  void* memory =
      mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* state = static_cast<State*>(memory);
  const std::uint64_t ticks = start_ticks();
  char stem[96];
  snprintf(stem, sizeof(stem), "%d-%llu-%s", static_cast<int>(getpid()), static_cast<unsigned long long>(ticks),
           name_of(source));
  if (!state->file.make(settings.directory, stem, settings.max_bytes)) {
    munmap(memory, sizeof(State));
    return false;
  }
  state->is_redacted = settings.redact_names;
  state->is_part_open = &is_open_;
  state->prepare();
  state->put_process(source, detail, ticks, api_version);
  state->next_buffer();
  state_ = state;
  __atomic_store_n(&is_open_, true, __ATOMIC_RELEASE);
  if (!start_thread(&State::run_thread, state, kWriterStack)) {
    __atomic_store_n(&is_open_, false, __ATOMIC_RELEASE);
    state->end.reason = part::EndReason::kOutOfMemory;
    state->write(state->buffers[0]);
    state->written = 1;
    state->write_last_words();
    state_ = nullptr;
    return false;
  }
  static bool is_fork_watched = false;
  if (!is_fork_watched) pthread_atfork(nullptr, nullptr, &abandon_open_part);
  is_fork_watched = true;
  open_part = this;
  return true;
}

template <class Work>
auto PartFile::locked(Work work) -> decltype(work(*state_)) {
  const Inside inside;
  if (!is_open() || inside.was_inside()) return {};
  pthread_mutex_lock(&state_->lock);
  const auto result = work(*state_);
  pthread_mutex_unlock(&state_->lock);
  return result;
}

bool PartFile::append(const part::RecordHead& record) {
  return locked([&](State& state) { return !state.is_closing && state.put(record); });
}

std::uint32_t PartFile::text(const char* text) {
  const auto length = static_cast<std::uint32_t>(strnlen(text, part::kMostTextBytes));
  return locked([&](State& state) { return state.put_text(text, length); });
}

std::uint32_t PartFile::kernel_name(const char* name) {
  const auto length = static_cast<std::uint32_t>(strnlen(name, part::kMostTextBytes));
  return locked([&](State& state) {
    return state.is_redacted ? state.put_redacted("kernel", name, length) : state.put_text(name, length);
  });
}

std::uint32_t PartFile::range_name(const char* name) {
  const auto length = static_cast<std::uint32_t>(strnlen(name, part::kMostTextBytes));
  return locked([&](State& state) {
    return state.is_redacted ? state.put_redacted("range", name, length) : state.put_text(name, length);
  });
}

std::uint32_t PartFile::known_range_name(const char* name) {
  const auto length = static_cast<std::uint32_t>(strnlen(name, part::kMostTextBytes));
  return locked([&](State& state) {
    if (!state.is_redacted) return state.texts.find(name, length);
    const std::uint32_t number = state.kernel_names.find(name, length);
    return number == 0 ? 0 : state.redacted[number - 1];
  });
}

void PartFile::lost(part::LossReason reason, std::uint64_t count) {
  locked([&](State& state) { return state.lost[static_cast<std::size_t>(reason) % kReasons] += count; });
}

void PartFile::close(part::EndReason reason, std::uint32_t detail, const char* text) {
  if (state_ == nullptr) return;
  const std::uint32_t sentence = text == nullptr ? 0 : this->text(text);
  const Inside inside;
  if (inside.was_inside()) return;
  pthread_mutex_lock(&state_->lock);
  state_->begin_closing(reason, detail, sentence);
  const timespec until = to_timespec(monotonic_ns() + kSecondNs);
  int result = 0;
  while (!state_->is_done && result == 0) result = pthread_cond_timedwait(&state_->done, &state_->lock, &until);
  pthread_mutex_unlock(&state_->lock);
  __atomic_store_n(&is_open_, false, __ATOMIC_RELEASE);
  if (open_part == this) open_part = nullptr;
}

void PartFile::push() {
  locked([](State& state) {
    state.is_pushed = true;
    return pthread_cond_signal(&state.wake);
  });
}

void PartFile::close_soon(part::EndReason reason) {
  locked([&](State& state) { return state.begin_closing(reason, 0, 0); });
}

void PartFile::abandon() {
  if (!is_open()) return;
  __atomic_store_n(&is_open_, false, __ATOMIC_RELEASE);
  state_->file.close();
  state_ = nullptr;
}

}  // namespace corun::guest
