#include "tracer/gate/handed_out.h"
#include "tracer/gate/kernel_table.h"
#include "tracer/gate/memory/memory_call_passing.h"
#include "tracer/gate/process_gate.h"
#include "tracer/guest/kept_errno.h"

/// Interception by LD_PRELOAD: this library in place of the driver, for all functions of driver_calls.h. Each calls the
/// one behind it once, with what it was given. What a library behind us calls meanwhile passes: it is part of that
/// call.
namespace corun::gate {
namespace {

using Word = std::uint64_t;
using Result = int;

constexpr Result kNotFound = 500;

__thread int depth __attribute__((tls_model("initial-exec"))) = 0;

constinit KernelTable kernels;
constinit Driver driver;

class Visit {
 public:
  Visit() { ++depth; }
  ~Visit() { --depth; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  bool is_nested() const { return depth > 1; }
};

void learn(Result (*find_name)(const char**, void*), void* handle) {
  const char* name = nullptr;
  if (find_name != nullptr && handle != nullptr && find_name(&name, handle) == Driver::kSuccess)
    kernels.learn(handle, name);
}

template <class Value>
Value as(Word word) {
  return reinterpret_cast<Value>(word);
}

// The program says how many handles it has room for, the driver how many there are: the rest of the room is not
// written.
std::uint32_t count_of(bool is_kernel, const Word* given) {
  const auto count_in = is_kernel ? driver.kernels_in_library : driver.functions_in_module;
  unsigned there = 0;
  if (count_in == nullptr || count_in(&there, as<void*>(given[2])) != Driver::kSuccess) return 0;
  const auto room = static_cast<std::uint32_t>(given[1]);
  return room < there ? room : there;
}

// Their first arguments: where the handle is, or the handles are, for how many of these there is room, and of what.
void learn_made(std::uint32_t function, const Word* given) {
  const bool is_kernel = function == cbid::cuLibraryGetKernel || function == cbid::cuLibraryEnumerateKernels;
  const bool is_many = function == cbid::cuModuleEnumerateFunctions || function == cbid::cuLibraryEnumerateKernels;
  const auto handles = as<void* const*>(given[0]);
  const std::uint32_t count = is_many ? count_of(is_kernel, given) : 1;
  for (std::uint32_t i = 0; handles != nullptr && i < count; ++i)
    learn(is_kernel ? driver.kernel_name : driver.function_name, handles[i]);
}

void answer(const Word* given) {
  const auto found = as<void**>(given[1]);
  const auto symbol = as<const char*>(given[0]);
  if (symbol != nullptr && found != nullptr && *found != nullptr)
    *found = hand_out_for(symbol, static_cast<int>(given[2]), given[3], *found);
}

Obstacle nothing_to_take() { return driver.load() ? Obstacle::kNone : Obstacle::kNoDriver; }
void nothing_to_leave() {}

void initialised() { start_process_gate(Interception::kPreload, &nothing_to_take, &nothing_to_leave); }

/// One call on its way through us.
struct Passing {
  KernelParameters kernel;
  Call call;
  std::uint64_t ticket;
};

bool begin(std::uint32_t function, const Word* given, Passing& passing) {
  if (!process_gate.is_on(Interception::kPreload)) return false;
  const guest::KeptErrno kept;
  passing.call = {function, lay_out(function, given, passing.kernel), nullptr, nullptr};
  if (driver.get_context(&passing.call.context) != Driver::kSuccess || passing.call.context == nullptr) return false;
  if (const void* kernel = launched_kernel(function, passing.call.parameters); kernel != nullptr)
    passing.call.symbol = kernels.name_of(kernel);
  passing.ticket = process_gate.before(passing.call);
  return true;
}

void end(std::uint32_t function, const Word* given, const Passing* passing, Result result) {
  const guest::KeptErrno kept;
  const bool has_failed = result != Driver::kSuccess;
  switch (function) {
    case cbid::cuInit:
      if (!has_failed) initialised();
      break;
    case cbid::cuGetProcAddress:
    case cbid::cuGetProcAddress_v2:
      if (!has_failed) answer(given);
      break;
    case cbid::cuModuleGetFunction:
    case cbid::cuLibraryGetKernel:
    case cbid::cuKernelGetFunction:
    case cbid::cuModuleEnumerateFunctions:
    case cbid::cuLibraryEnumerateKernels:
      if (!has_failed && process_gate.is_on(Interception::kPreload)) learn_made(function, given);
      break;
    default:
      if (passing != nullptr) process_gate.after(passing->call, passing->ticket, has_failed);
  }
}

template <CallRole kRole, class Behind>
Result pass_for_memory(std::uint32_t function, const Word* given, const Behind& behind) {
  if (!process_gate.is_on(Interception::kPreload)) return behind();
  void* context = nullptr;
  MemoryCallPassing passing(process_gate.memory(), driver);
  if constexpr (kRole == CallRole::kFree) return passing.free(function, given, behind);
  if constexpr (kRole == CallRole::kTellMemory) return passing.tell(function, given, behind);
  if (driver.get_context(&context) != Driver::kSuccess) context = nullptr;
  return passing.allocate(function, given, context, behind);
}

template <std::size_t kRow, class... Words>
inline Result pass(const void* caller, Words... words) {
  constexpr std::uint32_t kFunction = kDriverCalls[kRow].function;
  const auto behind = reinterpret_cast<Result (*)(Words...)>(find_behind(kRow, caller));
  if (behind == nullptr) return kNotFound;
  const Visit visit;
  if (visit.is_nested()) return behind(words...);
  const Word given[] = {words..., 0};
  if constexpr (constexpr CallRole kRole = kDriverCalls[kRow].role; is_for_memory(kRole)) {
    return pass_for_memory<kRole>(kFunction, given, [&] { return behind(words...); });
  }
  Passing passing;
  const bool is_told = begin(kFunction, given, passing);
  const Result result = behind(words...);
  end(kFunction, given, is_told ? &passing : nullptr, result);
  return result;
}

enum Row : std::size_t {
#define CORUN_ROW(name, ...) kRow_##name,
  CORUN_DRIVER_CALLS(CORUN_ROW)
#undef CORUN_ROW
};

}  // namespace

bool is_in_preload() { return depth > 0; }

}  // namespace corun::gate

#define CORUN_TAKE_0
#define CORUN_TAKE_1 Word a
#define CORUN_TAKE_2 CORUN_TAKE_1, Word b
#define CORUN_TAKE_3 CORUN_TAKE_2, Word c
#define CORUN_TAKE_4 CORUN_TAKE_3, Word d
#define CORUN_TAKE_5 CORUN_TAKE_4, Word e
#define CORUN_TAKE_6 CORUN_TAKE_5, Word f
#define CORUN_TAKE_8 CORUN_TAKE_6, Word g, Word h
#define CORUN_TAKE_9 CORUN_TAKE_8, Word i
#define CORUN_TAKE_10 CORUN_TAKE_9, Word j
#define CORUN_TAKE_11 CORUN_TAKE_10, Word k
#define CORUN_GIVE_0
#define CORUN_GIVE_1 , a
#define CORUN_GIVE_2 CORUN_GIVE_1, b
#define CORUN_GIVE_3 CORUN_GIVE_2, c
#define CORUN_GIVE_4 CORUN_GIVE_3, d
#define CORUN_GIVE_5 CORUN_GIVE_4, e
#define CORUN_GIVE_6 CORUN_GIVE_5, f
#define CORUN_GIVE_8 CORUN_GIVE_6, g, h
#define CORUN_GIVE_9 CORUN_GIVE_8, i
#define CORUN_GIVE_10 CORUN_GIVE_9, j
#define CORUN_GIVE_11 CORUN_GIVE_10, k

extern "C" {
using corun::gate::Word;
#define CORUN_EXPORT(name, function, since, arguments, role)                                                \
  __attribute__((visibility("default"))) corun::gate::Result name(CORUN_TAKE_##arguments) {                 \
    return corun::gate::pass<corun::gate::kRow_##name>(__builtin_return_address(0) CORUN_GIVE_##arguments); \
  }
CORUN_DRIVER_CALLS(CORUN_EXPORT)
#undef CORUN_EXPORT
}
