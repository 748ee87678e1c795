#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

/// Memory of which one piece cannot be had. Put in front of libc with LD_PRELOAD: the allocation whose number
/// $FAULTY_MEMORY_FAIL says fails, in any caller: the program, SQLite, libyaml. How many there were is written into the
/// file $FAULTY_MEMORY_COUNT when the program ends.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
}

namespace {

std::atomic<long> g_asked = 0;
long g_chosen = 0;

/// Before main, and before most of the loader's own: what it asks for cannot be refused in a way that is ours to judge.
__attribute__((constructor)) void begin() {
  if (const char* number = std::getenv("FAULTY_MEMORY_FAIL")) g_chosen = std::atol(number);
  g_asked = 0;
}

__attribute__((destructor)) void end() {
  const char* path = std::getenv("FAULTY_MEMORY_COUNT");
  if (path == nullptr) return;
  if (FILE* file = std::fopen(path, "w")) std::fprintf(file, "%ld\n", g_asked.load()), std::fclose(file);
}

bool fails() {
  if (++g_asked != g_chosen) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* memory, std::size_t size) { return fails() ? nullptr : __libc_realloc(memory, size); }
}
