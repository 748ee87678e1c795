// Stands in for a program with our libraries inside: it writes a part as they would, and does what its words say, in
// order. What a word does is stated next to it below.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/guest/part_file.h"

namespace {

using namespace corun;
using guest::monotonic_ns;

guest::Settings settings;
guest::PartFile part_file;
uint32_t correlation = 0;
volatile uint64_t* acknowledged = nullptr;
volatile sig_atomic_t is_terminated = 0;

void sleep_ms(long ms) {
  const timespec length{ms / 1000, ms % 1000 * 1000000};
  nanosleep(&length, nullptr);
}

// open=cuda|gl|vulkan: opens a part, if this process is to record
void open_part(const char* what) {
  settings = guest::read_settings();
  const bool is_cuda = strcmp(what, "cuda") == 0;
  const part::Source source = is_cuda                   ? part::Source::kCuda
                              : strcmp(what, "gl") == 0 ? part::Source::kGl
                                                        : part::Source::kVulkan;
  const bool is_wanted = is_cuda ? settings.cuda : strcmp(what, "gl") == 0 ? settings.gl : settings.vulkan;
  if (!is_wanted) return;
  part_file.open(settings, source, is_cuda ? settings.cuda_detail : part::Detail::kNone, 0);
  if (!is_cuda) return;
  part::DeviceRecord device{{}, 0, part_file.text("Stand-in GPU"), 1 << 30, 4, 2048, 65536, 102400, {}};
  for (uint8_t i = 0; i < sizeof(device.uuid); ++i) device.uuid[i] = static_cast<uint8_t>(i + 1);
  part_file.add(part::RecordType::kDevice, device);
  part_file.add(part::RecordType::kContext, part::ContextRecord{{}, 0, 1, 0, 0});
  part_file.add(part::RecordType::kStream, part::StreamRecord{{}, 1, 7, 0, 0});
}

// One launch and its kernel of 1 us, now.
void add_kernel() {
  const int64_t now = monotonic_ns();
  ++correlation;
  if (settings.cuda_detail == part::Detail::kCount) {
    if (correlation % part::kLaunchesPerCount == 0)
      part_file.add(part::RecordType::kLaunchCount, part::LaunchCountRecord{{}, now, correlation});
    return;
  }
  if (settings.cuda_detail == part::Detail::kCalls)
    part_file.add(
        part::RecordType::kCall,
        part::CallRecord{{}, now - 2000, now - 1000, guest::thread_id(), correlation, part::CallRole::kLaunch, 1, 0});
  part::KernelRecord kernel{};
  kernel.start_ns = now;
  kernel.end_ns = now + 1000;
  kernel.correlation = correlation;
  kernel.context = 1;
  kernel.stream = 7;
  kernel.name = part_file.kernel_name("secret_kernel");
  kernel.grid_x = kernel.grid_y = kernel.grid_z = kernel.block_x = kernel.block_y = kernel.block_z = 1;
  if (part_file.add(part::RecordType::kKernel, kernel) && acknowledged != nullptr) *acknowledged = correlation;
}

// kernels=N
void add_kernels(long count) {
  for (long i = 0; i < count; ++i) add_kernel();
}

// kernels-for=MS: one a millisecond; only those in the window, whose end closes the part
void add_kernels_for(long ms) {
  for (const int64_t until = monotonic_ns() + ms * 1000000; monotonic_ns() < until && is_terminated == 0; sleep_ms(1)) {
    if (monotonic_ns() >= settings.until_ns) part_file.close(part::EndReason::kWindow);
    if (monotonic_ns() >= settings.from_ns) add_kernel();
  }
}

// Bytes of the only part in the folder.
uint64_t part_bytes() {
  uint64_t bytes = 0;
  DIR* folder = opendir(settings.directory);
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
    struct stat status {};
    if (strstr(entry->d_name, ".part") == nullptr || fstatat(dirfd(folder), entry->d_name, &status, 0) != 0) continue;
    bytes = static_cast<uint64_t>(status.st_size);
  }
  if (folder != nullptr) closedir(folder);
  return bytes;
}

// kernels-forever=FILE: as fast as the file takes them, which is never more than 1,000 behind; the number of those
// written stands in FILE
void add_kernels_forever(const char* file) {
  const int descriptor = open(file, O_RDWR);
  void* page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  acknowledged = static_cast<volatile uint64_t*>(page);
  while (true) {
    for (int i = 0; i < 100; ++i) add_kernel();
    while (part_bytes() + 900 * sizeof(part::KernelRecord) < correlation * sizeof(part::KernelRecord)) usleep(50);
  }
}

// frames=N: as of a game at 1000 fps
void add_frames(uint64_t count) {
  const uint32_t chain = 1;
  part_file.add(part::RecordType::kSwapchain,
                part::SwapchainRecord{{}, chain, part_file.text("renderer"), 64, 64, 0, 0});
  const int64_t begin = monotonic_ns();
  for (uint64_t frame = 1; frame <= count; ++frame) {
    const int64_t at = begin + static_cast<int64_t>(frame) * 1000000;
    if (frame < settings.first_frame || frame > settings.last_frame) continue;
    part_file.add(
        part::RecordType::kVisit,
        part::VisitRecord{
            {}, at - 900000, at - 890000, at - 800000, at - 400000, 100, frame, guest::thread_id(), 1, 0, chain});
    part_file.add(part::RecordType::kFrame,
                  part::FrameRecord{{}, at, at + 5000, 2000, frame, guest::thread_id(), chain, 1, 0});
  }
}

// fork-and-add=N: a child that goes on with its copy of the part
void fork_and_add(long count) {
  const pid_t child = fork();
  if (child == 0) {
    add_kernels(count);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

// spawn ...: another process of this program does the rest; ends with its exit code
void spawn(char** words) {
  const pid_t child = fork();
  if (child == 0) {
    execv("/proc/self/exe", words);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  part_file.close(part::EndReason::kExit);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

// await=FILE: until it is there; the program ends where the test has ended and removed its folder
void await(const char* file) {
  char folder[4096];
  while (access(file, F_OK) != 0) {
    if (getcwd(folder, sizeof(folder)) == nullptr) _exit(97);
    sleep_ms(1);
  }
}

// leave=FILE ...: another process does the rest; ends when FILE is there
void leave(const char* file, char** words) {
  if (fork() == 0) {
    execv("/proc/self/exe", words);
    _exit(99);
  }
  await(file);
  _exit(0);
}

// on-user: SIGUSR1 touches the file "user"
void on_user(int) { close(open("user", O_CREAT | O_WRONLY, 0600)); }

// on-term: from here on SIGTERM does not end the program at once: it prints "terminated" when all words are done
void on_term(int) { is_terminated = 1; }

bool do_number(const char* word, const char* value) {
  const long number = strtol(value, nullptr, 10);
  if (strcmp(word, "kernels") == 0) return add_kernels(number), true;
  if (strcmp(word, "kernels-for") == 0) return add_kernels_for(number), true;
  if (strcmp(word, "frames") == 0) return add_frames(static_cast<uint64_t>(number)), true;
  if (strcmp(word, "fork-and-add") == 0) return fork_and_add(number), true;
  if (strcmp(word, "sleep") == 0) return sleep_ms(number), true;
  if (strcmp(word, "raise") == 0) return raise(static_cast<int>(number)) == 0;
  if (strcmp(word, "end") == 0) return part_file.close(static_cast<part::EndReason>(number)), true;
  if (strcmp(word, "exit") != 0) return false;
  part_file.close(part::EndReason::kExit);
  fflush(stdout);
  _exit(static_cast<int>(number));
}

bool do_text(const char* word, const char* value, char** rest) {
  if (strcmp(word, "open") == 0) return open_part(value), true;
  if (strcmp(word, "kernels-forever") == 0) return add_kernels_forever(value), true;
  if (strcmp(word, "print") == 0) return printf("%s\n", value) > 0 && fflush(stdout) == 0;
  if (strcmp(word, "complain") == 0) return fprintf(stderr, "%s\n", value) > 0;
  if (strcmp(word, "touch") == 0) return close(open(value, O_CREAT | O_WRONLY, 0600)) == 0;
  if (strcmp(word, "on-term") == 0) return signal(SIGTERM, on_term), signal(SIGINT, on_term), true;
  if (strcmp(word, "on-user") == 0) return signal(SIGUSR1, on_user), true;
  if (strcmp(word, "await") == 0) return await(value), true;
  if (strcmp(word, "exec") == 0) return execv("/proc/self/exe", rest) == 0;
  if (strcmp(word, "spawn") == 0) return spawn(rest), true;
  if (strcmp(word, "leave") == 0) return leave(value, rest), true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char word[32] = "";
    const char* equals = strchr(argv[i], '=');
    const size_t length = equals == nullptr ? strlen(argv[i]) : static_cast<size_t>(equals - argv[i]);
    memcpy(word, argv[i], length < sizeof(word) ? length : sizeof(word) - 1);
    const char* value = equals == nullptr ? "" : equals + 1;
    if (do_number(word, value) || do_text(word, value, argv + i)) continue;
    return fprintf(stderr, "stand_in: what is %s?\n", argv[i]), 97;
  }
  part_file.close(part::EndReason::kExit);
  if (is_terminated != 0) puts("terminated");
  return 0;
}
