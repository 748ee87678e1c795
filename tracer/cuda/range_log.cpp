#include "tracer/cuda/range_log.h"

#include <pthread.h>

namespace corun::cupti {
namespace {

__thread void* own __attribute__((tls_model("initial-exec"))) = nullptr;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t key;
bool has_key = false;

}  // namespace

// Its destructor gives the stack of a thread that ends to another one.
void RangeLog::make_key() { has_key = pthread_key_create(&key, &give_back) == 0; }

void RangeLog::give_back(void* stack) {
  own = nullptr;
  __atomic_store_n(&static_cast<Stack*>(stack)->is_taken, false, __ATOMIC_RELEASE);
}

RangeLog::Stack* RangeLog::own_stack() {
  if (own != nullptr) return static_cast<Stack*>(own);
  pthread_once(&once, &make_key);
  for (Stack& stack : stacks_) {
    if (!has_key || __atomic_exchange_n(&stack.is_taken, true, __ATOMIC_ACQUIRE)) continue;
    stack.depth = 0;
    if (pthread_setspecific(key, &stack) != 0) {
      give_back(&stack);
      return nullptr;
    }
    own = &stack;
    return &stack;
  }
  return nullptr;
}

int RangeLog::push(const Range& range) {
  Stack* const stack = own_stack();
  if (stack == nullptr) return 0;
  if (stack->depth < kMostDepth) stack->ranges[stack->depth] = range;
  return static_cast<int>(stack->depth++);
}

RangeLog::Range RangeLog::pop(const void* domain) {
  Stack* const stack = own_stack();
  if (stack == nullptr || stack->depth == 0) return {};
  if (stack->depth > kMostDepth) {
    --stack->depth;
    return {};
  }
  for (std::uint32_t i = stack->depth; i-- > 0;) {
    if (stack->ranges[i].domain != domain) continue;
    const Range found = stack->ranges[i];
    --stack->depth;
    for (; i < stack->depth; ++i) stack->ranges[i] = stack->ranges[i + 1];
    return found;
  }
  return {};
}

std::uint64_t RangeLog::start(const Range& range) {
  const std::uint64_t number = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
  Started& place = started_[number % kMostStarted];
  std::uint64_t holder = kFree;
  if (!place.number.compare_exchange_strong(holder, kInUse, std::memory_order_acquire)) return number;
  place.range = range;
  place.number.store(number, std::memory_order_release);
  return number;
}

RangeLog::Range RangeLog::end(std::uint64_t number) {
  if (number == kFree || number == kInUse) return {};
  Started& place = started_[number % kMostStarted];
  std::uint64_t holder = number;
  if (!place.number.compare_exchange_strong(holder, kInUse, std::memory_order_acquire)) return {};
  const Range range = place.range;
  place.number.store(kFree, std::memory_order_release);
  return range;
}

}  // namespace corun::cupti
