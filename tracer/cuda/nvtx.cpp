#include "tracer/cuda/nvtx.h"

#include "tracer/cuda/kept_texts.h"
#include "tracer/cuda/range_log.h"
#include "tracer/guest/kept_errno.h"
#include "tracer/guest/part_file.h"

namespace corun::nvtx {
namespace {

using cupti::RangeLog;

constinit RangeLog ranges{};
constinit KeptTexts early_texts{};
constinit Sink sink{};

RangeLog::Range opened(const void* domain, std::uint32_t name) { return {domain, guest::monotonic_ns(), name}; }

std::uint32_t name_of(const char* text) { return text == nullptr || !sink.is_wanted() ? 0 : sink.name(text); }

// A registered string is its number, or a text that was registered while nothing was recorded.
std::uint32_t name_of(const Attributes* attributes) {
  constexpr std::size_t kUpToMessage = offsetof(Attributes, message) + sizeof(Attributes::message);
  if (attributes == nullptr || attributes->size < kUpToMessage) return 0;
  if (attributes->message_type == kMessageAscii) return name_of(static_cast<const char*>(attributes->message));
  if (attributes->message_type != kMessageRegistered) return 0;
  if (early_texts.has(attributes->message)) return name_of(static_cast<const char*>(attributes->message));
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(attributes->message));
}

void close(const RangeLog::Range& range) {
  if (range.name != 0 && sink.is_wanted()) sink.range(range.start_ns, guest::monotonic_ns(), range.name);
}

int push(const char* text) {
  const guest::KeptErrno kept;
  return ranges.push(opened(nullptr, name_of(text)));
}

// Its pop is not to end another range.
int push_wide(const wchar_t*) {
  const guest::KeptErrno kept;
  return ranges.push(opened(nullptr, 0));
}

int push_with(const Attributes* attributes) {
  const guest::KeptErrno kept;
  return ranges.push(opened(nullptr, name_of(attributes)));
}

int pop() {
  const guest::KeptErrno kept;
  close(ranges.pop(nullptr));
  return 0;
}

std::uint64_t start(const char* text) {
  const guest::KeptErrno kept;
  return ranges.start(opened(nullptr, name_of(text)));
}

std::uint64_t start_with(const Attributes* attributes) {
  const guest::KeptErrno kept;
  return ranges.start(opened(nullptr, name_of(attributes)));
}

void end(std::uint64_t number) {
  const guest::KeptErrno kept;
  close(ranges.end(number));
}

int push_in(const void* domain, const Attributes* attributes) {
  const guest::KeptErrno kept;
  return ranges.push(opened(domain, name_of(attributes)));
}

int pop_in(const void* domain) {
  const guest::KeptErrno kept;
  close(ranges.pop(domain));
  return 0;
}

std::uint64_t start_in(const void* domain, const Attributes* attributes) {
  const guest::KeptErrno kept;
  return ranges.start(opened(domain, name_of(attributes)));
}

void end_in(const void*, std::uint64_t number) { end(number); }

const void* register_string(const void*, const char* text) {
  const guest::KeptErrno kept;
  if (text == nullptr) return nullptr;
  if (!sink.is_wanted()) return early_texts.keep(text);
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(sink.name(text)));
}

struct Hook {
  std::uint32_t place;
  Function function;
};

template <class Pointer>
Function plain(Pointer function) {
  return reinterpret_cast<Function>(function);
}

template <std::size_t kCount>
bool hook(const CallbackTable& callbacks, std::uint32_t module, const Hook (&hooks)[kCount]) {
  Function** table = nullptr;
  unsigned count = 0;
  if (callbacks.module(module, &table, &count) == 0 || table == nullptr) return false;
  for (const Hook& one : hooks) {
    if (one.place < count && table[one.place] != nullptr) *table[one.place] = one.function;
  }
  return true;
}

}  // namespace

bool install(GetExportTable get_table, const Sink& wanted) {
  if (get_table == nullptr) return false;
  const auto* const callbacks = static_cast<const CallbackTable*>(get_table(kCallbackTable));
  if (callbacks == nullptr || callbacks->size < sizeof(CallbackTable) || callbacks->module == nullptr) return false;
  sink = wanted;
  const Hook core[] = {{kRangeStartEx, plain(&start_with)}, {kRangeStartA, plain(&start)}, {kRangeEnd, plain(&end)},
                       {kRangePushEx, plain(&push_with)},   {kRangePushA, plain(&push)},   {kRangePop, plain(&pop)},
                       {kRangePushW, plain(&push_wide)}};
  const Hook core2[] = {{kDomainRangeStartEx, plain(&start_in)},
                        {kDomainRangeEnd, plain(&end_in)},
                        {kDomainRangePushEx, plain(&push_in)},
                        {kDomainRangePop, plain(&pop_in)},
                        {kDomainRegisterStringA, plain(&register_string)}};
  const bool has_core = hook(*callbacks, kModuleCore, core);
  return hook(*callbacks, kModuleCore2, core2) || has_core;
}

}  // namespace corun::nvtx
