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

  /// What happens to the limit while the device has time to spare.
  enum class Mode : std::uint8_t {
    kHard,          ///< it stays
    kElastic,       ///< vcuda-controller: it only grows, and falls back to the request when a client arrives
    kElasticPaper,  ///< the paper: it grows below a utilisation of the device, and is given back above it
  };

  struct Rules {
    Mode mode = Mode::kHard;
    std::int64_t ceiling = 100;        ///< most that an elastic limit grows to, percent
    std::int64_t device_ceiling = 90;  ///< kElasticPaper: utilisation of the device that is wanted at most, percent
    std::int64_t sm_exponent = 2;      ///< the step grows with this power of the SMs; 1 or 2
    bool doubles_pool = false;         ///< a full share with a bucket still in debt doubles the pool (HAMi)
    bool guards_start = true;          ///< fills the bucket of a lone, almost idle client directly (vcuda-controller)
  };

  /// What the watcher reads at a tick.
  struct Reading {
    std::int64_t own;        ///< utilisation of this client, percent
    std::int64_t system;     ///< utilisation of the device, percent
    std::int64_t processes;  ///< clients with compute work, this one included
  };

  /// `request` is the guaranteed utilisation in percent, at least 1.
  GaiaLimiter(Device device, std::int64_t request, const Rules& rules);

  bool may_launch() const { return bucket_ >= 0; }
  /// A launch passed: overdraws by one whole kernel at most.
  void charge(std::int64_t blocks) { bucket_ -= blocks; }
  /// Another request counts from the next tick on; what an elastic limit had grown beyond the old one is lost.
  void resize(std::int64_t request);
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
  void tick_elastic_paper(const Reading& reading);
  bool interval_ends(std::int64_t spare, std::int64_t& spare_sum);

  const Device device_;
  const Rules rules_;
  std::int64_t request_;
  std::int64_t pool_;
  std::int64_t limit_;
  std::int64_t bucket_ = 0;
  std::int64_t share_ = 0;
  std::int64_t processes_ = 1;  ///< at the tick before; the artifact begins with one
  std::int64_t ticks_ = 0;      ///< of the interval between two changes of an elastic limit
  std::int64_t spare_sum_ = 0;  ///< percent, over the ticks since it was last cleared
};

}  // namespace corun
