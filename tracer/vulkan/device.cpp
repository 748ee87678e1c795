#include "tracer/vulkan/device.h"

#include <stdlib.h>

#include <new>

#include "tracer/guest/kept_errno.h"
#include "tracer/guest/lock.h"

namespace corun::vulkan {

bool was_presented(VkResult result) { return result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR; }

namespace {

using guest::Lock;

constinit pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

std::uint32_t most_bits(const DeviceTraits& traits) {
  std::uint32_t most = 0;
  for (const std::uint32_t bits : traits.timestamp_bits) most = bits > most ? bits : most;
  return most;
}

}  // namespace

void Device::open(VkDevice handle, const NextDevice& next, const DeviceTraits& traits, guest::FrameLog& log) {
  log_ = &log;
  handle_ = handle;
  next_ = next;
  traits_ = traits;
  if (traits.is_traced) gate_frames_.open(handle, next);
  clock_.start(handle, traits.read_clocks, traits.timestamp_period_ns, most_bits(traits));
}

bool Device::is_recording() const {
  return __atomic_load_n(&has_swapchain_, __ATOMIC_ACQUIRE) && !__atomic_load_n(&is_lost_, __ATOMIC_RELAXED) &&
         log_->is_recording();
}

void Device::add_queue(VkQueue queue, std::uint32_t family, bool may_time) {
  const Lock lock(lock_);
  if (queue == VK_NULL_HANDLE || find_queue(queue) != nullptr) return;
  for (Queue& free : queues_) {
    if (free.handle != VK_NULL_HANDLE) continue;
    free.family = family;
    free.bits = may_time && family < DeviceTraits::kMostFamilies ? traits_.timestamp_bits[family] : 0;
    __atomic_store_n(&free.handle, queue, __ATOMIC_RELEASE);
    return;
  }
}

Queue* Device::find_queue(VkQueue queue) {
  for (Queue& known : queues_) {
    if (__atomic_load_n(&known.handle, __ATOMIC_ACQUIRE) == queue) return &known;
  }
  return nullptr;
}

void Device::add_swapchain(VkSwapchainKHR swapchain, const VkExtent2D& extent) {
  const guest::KeptErrno kept;
  {
    const Lock lock(start_lock);
    if (!log_->start(part::Source::kVulkan, traits_.api_version)) return;
  }
  if (!__atomic_load_n(&has_swapchain_, __ATOMIC_ACQUIRE)) read_clock(guest::monotonic_ns());
  const Lock lock(lock_);
  __atomic_store_n(&has_swapchain_, true, __ATOMIC_RELEASE);
  const std::uint32_t number = log_->swapchain(traits_.name, extent.width, extent.height, false);
  for (Swapchain& free : swapchains_) {
    if (free.handle != VK_NULL_HANDLE) continue;
    free = {swapchain, number};
    return;
  }
}

void Device::remove_swapchain(VkSwapchainKHR swapchain) {
  const Lock lock(lock_);
  for (Swapchain& known : swapchains_) {
    if (known.handle == swapchain) known = {};
  }
}

std::uint32_t Device::swapchain_number(VkSwapchainKHR swapchain) const {
  for (const Swapchain& known : swapchains_) {
    if (known.handle == swapchain) return known.number;
  }
  return 0;
}

// The queue is the caller's alone during a submission, so its ring has one maker.
bool Device::make_ring(Queue& queue) {
  void* memory = calloc(1, sizeof(VisitRing));
  if (memory == nullptr) return false;
  auto* ring = new (memory) VisitRing;
  ring->set_valid_bits(queue.bits);
  const VkResult result = ring->pairs().create(handle_, next_, traits_.set_loader_data, queue.handle, queue.family);
  if (result == VK_ERROR_DEVICE_LOST) lose();
  if (result != VK_SUCCESS) {
    free(memory);
    return false;
  }
  const Lock lock(lock_);
  queue.ring = ring;
  return true;
}

bool Device::begin_visit(VkQueue handle, Visit& visit) {
  const guest::KeptErrno kept;
  Queue* queue = is_recording() ? find_queue(handle) : nullptr;
  if (queue == nullptr) return false;
  visit.entered_ns = guest::monotonic_ns();
  bool has_clock = false;
  {
    const Lock lock(lock_);
    if (frame_ == 0) frame_ = log_->begin_frame();
    ++visits_;
    visit.record.frame = frame_;
    if (!log_->wants(frame_, visit.entered_ns)) return false;
    if (queue->number == 0) queue->number = log_->queue();
    has_clock = clock_.is_usable();
  }
  if (has_clock && queue->bits != 0 && queue->ring == nullptr && !make_ring(*queue)) queue->bits = 0;
  visit.queue = queue;
  visit.record.queue = queue->number;
  visit.record.thread = guest::thread_id();
  take_pair(*queue, visit);
  return true;
}

void Device::take_pair(Queue& queue, Visit& visit) {
  if (queue.ring == nullptr) return;
  const Lock lock(lock_);
  std::uint32_t pair = 0;
  if (!queue.ring->next_pair(pair)) return;
  visit.first = queue.ring->pairs().first(pair);
  visit.last = queue.ring->pairs().last(pair);
}

void Device::end_visit(Visit& visit, VkResult result, bool is_timed) {
  const guest::KeptErrno kept;
  if (result == VK_ERROR_DEVICE_LOST) lose();
  const Lock lock(lock_);
  if (result == VK_SUCCESS && is_timed) {
    visit.queue->ring->commit(visit.record);
  } else if (result == VK_SUCCESS) {
    log_->lost(part::LossReason::kNoQuery, 1);
    log_->visit(visit.record);
  }
  if (visit.queue->ring != nullptr && visit.queue->ring->is_filling()) collect(*visit.queue->ring);
  const std::int64_t down_ns = visit.record.submit_end_ns - visit.record.submit_ns;
  tracer_ns_ += guest::monotonic_ns() - visit.entered_ns - down_ns;
}

void Device::begin_present(Present& present) {
  const guest::KeptErrno kept;
  present.entered_ns = guest::monotonic_ns();
  const Lock lock(lock_);
  present.frame = frame_ != 0 ? frame_ : log_->begin_frame();
  present.visits = visits_;
  frame_ = 0;
  visits_ = 0;
}

void Device::end_present(Present& present, VkResult result, const VkPresentInfoKHR& info, const VkResult* results) {
  const guest::KeptErrno kept;
  if (result == VK_ERROR_DEVICE_LOST) lose();
  read_clock(present.present_end_ns);
  const Lock lock(lock_);
  for (Queue& queue : queues_) {
    if (queue.ring != nullptr) collect(*queue.ring);
  }
  const std::int64_t down_ns = present.present_end_ns - present.present_ns;
  std::uint64_t frame = present.frame;
  tracer_ns_ += guest::monotonic_ns() - present.entered_ns - down_ns;
  for (std::uint32_t i = 0; i < info.swapchainCount; ++i) {
    if (!was_presented(results != nullptr ? results[i] : result)) continue;
    if (frame == 0) frame = log_->begin_frame();
    log_->present({{},
                   present.present_ns,
                   present.present_end_ns,
                   tracer_ns_,
                   frame,
                   guest::thread_id(),
                   swapchain_number(info.pSwapchains[i]),
                   present.visits,
                   0});
    frame = 0;
    present.visits = 0;
    tracer_ns_ = 0;
  }
  if (frame == 0 || frame_ != 0) return;
  frame_ = frame;
  visits_ = present.visits;
}

void Device::read_clock(std::int64_t now_ns) {
  {
    const Lock lock(lock_);
    if (__atomic_load_n(&is_lost_, __ATOMIC_RELAXED) || !clock_.claim_reading(now_ns)) return;
  }
  const DeviceClock::Sample sample = clock_.sample();
  if (sample.result == VK_ERROR_DEVICE_LOST) lose();
  const Lock lock(lock_);
  clock_.add(sample);
}

void Device::collect(VisitRing& ring) {
  if (!__atomic_load_n(&is_lost_, __ATOMIC_RELAXED) && !ring.collect(clock_, *log_)) lose();
}

void Device::close() {
  const guest::KeptErrno kept;
  gate_frames_.close();
  if (is_recording()) read_clock(INT64_MAX - DeviceClock::kEvery);
  for (Queue& queue : queues_) {
    if (queue.ring == nullptr) continue;
    for (std::uint32_t reads = 0; reads < QueryPairs::kCount; reads += VisitRing::kMostReads) collect(*queue.ring);
    queue.ring->flush(clock_, *log_);
    queue.ring->pairs().destroy();
    free(queue.ring);
  }
  *this = Device{};
}

void Device::flush_at_exit() {
  if (!is_recording() || pthread_mutex_trylock(&lock_) != 0) return;
  lose();
  for (Queue& queue : queues_) {
    if (queue.ring != nullptr) queue.ring->flush(clock_, *log_);
  }
  pthread_mutex_unlock(&lock_);
}

}  // namespace corun::vulkan
