#pragma once

#include <cstdint>
#include <string>

#include "traces/base/time.h"

namespace corun {

/// How contexts share the compute side of a device.
enum class Sharing : std::uint8_t {
  kTimeSliced,  ///< the driver's round robin between contexts (default of NVIDIA GPUs without MPS)
  kConcurrent,  ///< MPS-like: kernels of all clients share the SMs
  kExclusive,   ///< one operation at a time, first come, first served
};

/// What a graphics visit does in the round robin of contexts.
enum class GraphicsScheduling : std::uint8_t {
  kToCompletion,  ///< waits its turn, then runs to its end whatever the slice says
  kSliced,        ///< is sliced like compute
  kFirst,         ///< takes the device at once when it has work, and runs to its end
};

/// What follows the end of a slice of a context that has the device to itself.
enum class LoneSlice : std::uint8_t {
  kRolls,             ///< the next one begins: a context that wakes waits for the end of the running one
  kUsedUp,            ///< it stays used up: a context that wakes later has the device after a switch
  kRollsWhileQueued,  ///< rolls while more is queued behind what the context runs, else used up
};

/// The context that has the next turn where several have work.
enum class TurnOrder : std::uint8_t {
  kAsWoken,  ///< the one that has waited longest
  kFixed,  ///< the next one in the order of creation; chosen when the turn of a context begins that has nothing queued
           ///< behind what it runs, else when the turn ends
};

/// How concurrent kernels divide the SMs.
enum class SpatialRule : std::uint8_t {
  kDispatchOrder,  ///< the earlier kernel keeps what its blocks fill, the later gets the leftover
  kMaxMin,         ///< weighted max-min fair shares of the SMs, to compare with
};

/// How memory that does not fit is paged (docs/memory.md).
enum class Paging : std::uint8_t {
  kFluid,   ///< bytes, at one bandwidth for hand-overs and one for thrash
  kBlocks,  ///< blocks of 2 MiB, each at the cost of its faults and of what it evicts
};

/// When an SM changes how much of its memory is shared memory and how much cache (sim/device/carveout.h).
enum class CarveoutChange : std::uint8_t {
  kAnyTime,   ///< whenever a kernel asks for it: blocks find room whatever other kernels ask for
  kWhenIdle,  ///< only when no block is on it
};

/// Everything a device model needs to know about a GPU and its driver. Read from a device file
/// (experiments/devices/*.yaml), where each number names its source.
struct DeviceSpec {
  std::string name;

  std::uint32_t sm_count = 1;
  std::uint32_t max_threads_per_sm = 2048;
  std::uint32_t max_blocks_per_sm = 32;
  std::uint32_t registers_per_sm = 65536;
  std::uint32_t shared_memory_per_sm_bytes = 233472;
  std::uint64_t memory_bytes = 0;  ///< usable by programs; 0 = no limit is modelled

  Sharing sharing = Sharing::kTimeSliced;
  GraphicsScheduling graphics = GraphicsScheduling::kToCompletion;
  LoneSlice lone_slice = LoneSlice::kRolls;
  TurnOrder turn_order = TurnOrder::kAsWoken;
  SpatialRule spatial_rule = SpatialRule::kDispatchOrder;
  CarveoutChange carveout_change = CarveoutChange::kAnyTime;

  Duration time_slice{2'097'152};  ///< of one context while another has work
  Duration graphics_slice{0};     ///< of graphics that runs to completion: visits that are queued follow one another in
                                  ///< one turn until it has lasted so long; 0 = each is a turn of its own
  Duration switch_cost{175'000};  ///< between contexts that fill the device: device time that neither gets, each switch
  /// Part [0, 1] of `switch_cost` that depends on threads: one half saves those of a context that is cut, the other
  /// half restores those of one that was; of fewer threads by saved_state(). A context that has no pending work has no
  /// state to save.
  double switch_state = 0.0;
  std::uint32_t launch_queue_depth = 1024;  ///< operations in flight per client before its host blocks

  std::uint64_t to_device_bytes_per_s = 0;    ///< of the host link, all copies of that direction together; 0 = copies
                                              ///< take their recorded time and snapshots are not possible
  std::uint64_t from_device_bytes_per_s = 0;  ///< the other direction
  std::uint64_t context_bytes = 0;            ///< device memory that a context takes for itself
  Duration context_create{};                  ///< from the end of a killed context to a new one that can run
  std::uint32_t copy_engines_per_direction = 1;
  Paging paging = Paging::kFluid;
  std::uint64_t handover_bandwidth_bytes_per_s = 0;  ///< fluid: paging in an undisturbed context; 0 = none is modelled
  std::uint64_t thrash_bandwidth_bytes_per_s = 0;    ///< fluid: useful paging while contexts evict one another
  Duration fault_group{};  ///< blocks: service of page faults that are served together; 0 = no paging is modelled
  Duration eviction{};     ///< blocks: of one block, besides the faults that need its room

  /// Throughput of a fraction f of the SMs, relative to all, where several kernels divide them: f^exponent, in (0, 1].
  /// Below 1 because half of the SMs already use most of the memory bandwidth; at 1, throughput is in proportion to
  /// SMs. What a cap leaves one kernel is another law: speed_on().
  double sm_rate_exponent = 1.0;

  /// Throughput of SMs that hold a fraction f of the blocks they could, relative to full SMs: f^exponent, in [0, 1].
  /// Well below 1, since a few blocks use most of an SM; at 1, throughput is in proportion to blocks.
  double sm_fill_exponent = 1.0;

  /// Part of a kernel's time alone that does not depend on how many SMs it has (launch, first loads, last blocks). A
  /// kernel no longer than that is as long on any number of SMs.
  Duration kernel_overhead{};

  /// The last part [0, 1] of the time of a kernel whose blocks all began at once, in which they end one after another.
  /// 0: all end at the same instant.
  double one_wave_drain = 0.0;

  // Where clients share the SMs (studies/mps-model):
  double mps_gap_scale = 1.0;  ///< dispatch gaps of a client while kernels of others are there, over those alone; >= 1
  Duration mps_launch_stall{0};  ///< for which a kernel that begins stalls the running kernels of other clients

  // Power and clock (sim/device/model/power_governor.h); of a device without a limit neither is modelled.
  double power_limit_w = 0.0;   ///< of the board, which lowers the clock of the SMs to keep it; 0 = none is modelled
  double idle_power_w = 0.0;    ///< with contexts and no work, at the full clock
  double full_clock_mhz = 0.0;  ///< of the SMs while power does not hold them back
  double clock_time_exponent = 1.0;    ///< kernels take (full clock / clock)^this times as long; [0, 1]
  double clock_energy_exponent = 1.0;  ///< and (clock / full clock)^this times the energy; [0, 3]
};

/// Whether working sets may exceed the device's memory.
inline bool pages(const DeviceSpec& spec) {
  return spec.paging == Paging::kBlocks ? spec.fault_group > Duration{} : spec.handover_bandwidth_bytes_per_s > 0;
}

}  // namespace corun
