#pragma once

#include <span>
#include <vector>

#include "sim/device/run_set.h"
#include "sim/device/spatial/sm_division.h"
#include "sim/device/spec.h"

namespace corun {

/// Kernels of all clients on the device at once, as under MPS. A subclass says how they divide its throughput.
///
/// - A dispatch gap holds no SMs. Next to kernels of other clients it takes `mps_gap_scale` times as long.
/// - A client's `sm_cap` bounds the SMs that its kernels get together and reserves nothing.
/// - A client with the `sm_share` s has a part of the device for its kernels alone, with the fraction s of the SMs.
///   The other clients have the SMs that no client reserved. Each part is divided independently of the
///   others.
/// - Parts compete for memory bandwidth: while parts with the fraction F of the SMs in all are busy, their throughput
///   is F^sm_rate_exponent, divided in proportion to their SMs. A kernel whose times with fewer SMs were measured has
///   those.
class SpatialSet : public RunSet {
 public:
  SpatialSet(OpTable& ops, const DeviceSpec& spec);

  /// How clients are treated from now on, by client, those that have not joined yet left out. `available` [0, 1] is
  /// the fraction of the SMs that no instance has. An operation's occupancy and speed must be those of its client's
  /// part; assign_rates() must follow.
  void treat(std::span<const ContextControls> controls, double available);

  void assign_rates() override;

 protected:
  /// The throughput of one division: what each kernel has of its part, and what is given of each part in all.
  struct Throughput {
    std::span<const SmShare> shares, given;
  };

  /// Divides the throughput of every part among the kernels past their gap.
  virtual Throughput divide(Kernels kernels) = 0;
  /// A cap on the fraction `sms` of a part's SMs, as a fraction of what divide() gives out first.
  virtual double cap_on(double sms) const = 0;

  const SmDivision& division() const { return division_; }
  Kernels kernels() const { return kernels_; }

 private:
  bool has_other_client(const ActiveOp& in_gap) const;
  void give_rates(const Throughput& throughput);
  double bandwidth_gain(std::span<const SmShare> given) const;

  const double exponent_;
  const Rate gap_rate_;  ///< of a dispatch gap next to kernels of other clients
  SmDivision division_;
  std::vector<ActiveOp*> kernels_;  ///< as of the last assign_rates()
};

}  // namespace corun
