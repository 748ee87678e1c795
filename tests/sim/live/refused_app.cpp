// A program that calls every function of driver_calls.h again and again, with arguments that make no sense:
//
//   refused_app ROUNDS
//
// It says on stdout what each returned. Functions that read what a pointer points to get none, or memory full of
// anything: other pointers no driver survives.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/sim/live/driver/fake_cuda.h"
#include "tracer/gate/driver/driver_calls.h"

namespace {

using Word = std::uint64_t;
using Function = int (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

struct Row {
  const char* name;
  std::uint32_t function;
};
constexpr Row kRows[] = {
#define ROW(name, function, ...) {#name, function},
    CORUN_DRIVER_CALLS(ROW)
#undef ROW
};

std::uint64_t state = 88172645463325252;
std::uint64_t draw() {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

Word memory[512];  // at the same place every time, where addresses are not drawn (setarch -R)

Word pointer() { return draw() % 2 == 0 ? 0 : reinterpret_cast<Word>(memory); }

Word anything() {
  switch (draw() % 6) {
    case 0:
      return 0;
    case 1:
      return draw() % 4;
    case 2:
      return reinterpret_cast<Word>(memory);
    case 3:
      return UINT64_MAX;
    case 4:
      return draw() % 5000;
    default:
      return draw();
  }
}

/// Which argument a gate follows, as the driver does; -1: none.
int argument_read_by(std::uint32_t function) {
  namespace cbid = corun::gate::cbid;
  switch (function) {
    case cbid::cuLaunchKernelEx:
    case cbid::cuLaunchKernelEx_ptsz:
      return 0;
    case cbid::cuArrayCreate_v2:
    case cbid::cuArray3DCreate_v2:
    case cbid::cuMipmappedArrayCreate:
      return 1;
    case cbid::cuMemCreate:
      return 2;
    default:
      return -1;
  }
}

}  // namespace

int main(int count, char** arguments) {
  alarm(120);  // whatever becomes of the test
  if (cuInit(0) != 0) return 3;
  for (int round = count > 1 ? std::atoi(arguments[1]) : 1; round > 0; --round)
    for (const Row& row : kRows) {
      for (Word& word : memory) word = anything();
      Word given[11];
      for (Word& word : given) word = anything();
      if (const int read = argument_read_by(row.function); read >= 0) given[read] = pointer();
      const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, row.name));
      if (function == nullptr) return 4;
      const auto& g = given;
      const int result = function(g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10]);
      std::printf("%s %d\n", row.name, result);
    }
  std::puts("done");
  return 0;
}
