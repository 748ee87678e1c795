#pragma once

#include <cstdint>

namespace corun {

/// GaiaGPU's compute limiter for one client: a token bucket whose token is one thread block, refilled at every tick by
/// a share that a feedback controller moves towards a utilisation limit.
///
/// Integer arithmetic throughout, in the order of vcuda-controller, in 64 bits. Percentages are whole, 0 to 100.
/// Single-threaded; nothing is thrown.
class GaiaLimiter {
 public:
  struct Device {
    std::int64_t sm_count;            ///< at least 1
    std::int64_t max_threads_per_sm;  ///< at least 1
  };

  /// What the watcher reads at a tick.
  struct Reading {
    std::int64_t own;        ///< utilisation of this client, percent
    std::int64_t system;     ///< utilisation of the device, percent
    std::int64_t processes;  ///< clients with compute work, this one included
  };

  /// `request` is the guaranteed utilisation in percent. With `is_elastic` the limit may grow to `ceiling` percent
  /// while the device has spare time; otherwise it stays at the request.
  GaiaLimiter(Device device, std::int64_t request, bool is_elastic, std::int64_t ceiling);

  bool may_launch() const { return bucket_ >= 0; }
  /// A launch passed: overdraws by one whole kernel at most.
  void charge(std::int64_t blocks) { bucket_ -= blocks; }
  /// One turn of the watcher.
  void tick(const Reading& reading);

  std::int64_t pool() const { return pool_; }      ///< most tokens the bucket and the share hold, blocks
  std::int64_t bucket() const { return bucket_; }  ///< blocks; negative is a debt
  std::int64_t share() const { return share_; }    ///< blocks added per tick
  std::int64_t limit() const { return limit_; }    ///< utilisation aimed at, percent

  /// How far one tick moves the share when utilisation `used` should be `limit`, blocks.
  std::int64_t step(std::int64_t limit, std::int64_t used) const;

 private:
  std::int64_t next_share(std::int64_t limit, std::int64_t used) const;
  bool tick_hard(const Reading& reading);
  void tick_elastic(const Reading& reading);
  void count_spare(std::int64_t spare);

  const Device device_;
  const std::int64_t pool_;
  const std::int64_t request_;
  const bool is_elastic_;
  const std::int64_t ceiling_;
  std::int64_t limit_;
  std::int64_t bucket_ = 0;
  std::int64_t share_ = 0;
  std::int64_t processes_ = 0;   ///< at the tick before
  std::int64_t raise_ticks_ = 0;
  std::int64_t spare_sum_ = 0;   ///< percent, over the ticks since it was last cleared
};

}  // namespace corun
