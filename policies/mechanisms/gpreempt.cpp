/// GPreempt - preemption by time slices: contexts that matter have endless turns, the others tiny ones.
/// Source:      R. Fan, T. Ren, M. Xie, S. Gao, J. Shu, Y. Lu, "GPREEMPT: GPU preemptive scheduling made general and
///              efficient", USENIX ATC 2025. Artifact: thustorage/GPreempt (src/gpreempt.cpp, src/cuda-clients).
/// Hears:       clients joining and leaving.      Needs: nothing; the device must be time-sliced to feel it.
/// Decides:     latency-critical clients get `high_slice` in the driver's round robin of contexts, the others
///              `low_slice`, so a latency-critical client waits for one tiny slice and one context switch at most, and
///              then keeps the device until it has no more work. Every gate is open.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/mechanisms/device_setting.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

class Gpreempt : public DeviceSetting {
 public:
  explicit Gpreempt(const Parameters& parameters)
      : high_slice_(parameters.duration("high_slice")),
        low_slice_(parameters.duration("low_slice")),
        critical_from_(static_cast<std::int32_t>(parameters.integer("critical_from"))) {}

 private:
  void set(const ClientView& client, Actions& actions) const override {
    const bool is_critical = client.role == Role::kInteractive || client.priority >= critical_from_;
    actions.set_slice(client.id, is_critical ? high_slice_ : low_slice_);
  }

  const Duration high_slice_;
  const Duration low_slice_;
  const std::int32_t critical_from_;
};

}  // namespace

PolicyDescriptor gpreempt_policy() {
  PolicyDescriptor policy;
  policy.name = "gpreempt";
  policy.summary = "Latency-critical contexts have endless time slices and best-effort ones tiny ones.";
  policy.source =
      "R. Fan et al., \"GPREEMPT: GPU preemptive scheduling made general and efficient\", USENIX ATC 2025; artifact "
      "thustorage/GPreempt";
  policy.deviations = {
      "No pre-preemption: the artifact gets notice of a request some 100 us ahead and lets a waiting kernel take the "
      "device meanwhile, which hides the switch but for less than 40 us. A client here announces nothing before it "
      "submits.",
      "The artifact puts all clients of a class into one context; here each client has its own, so two best-effort "
      "clients switch between tiny slices all the time, and latency-critical ones take turns.",
      "The default of the tiny slice is the paper's; the artifact asks the driver for 1 us.",
      "Graphics contexts keep the device's own rule; slices are those of compute.",
  };
  policy.parameters.duration("high_slice", 1s)
      .range(1us, 10s)
      .means("Time slice of a latency-critical client.")
      .from("paper and artifact, src/gpreempt.cpp");
  policy.parameters.duration("low_slice", 200us)
      .range(1us, 1s)
      .means("Time slice of a best-effort client.")
      .from("paper (artifact: 1us)");
  policy.parameters.integer("critical_from", 1)
      .range(-100, 100)
      .means("Clients of this priority or a higher one are latency-critical, and interactive ones always.")
      .from("ours; the artifact has two classes");
  policy.create = [](const Parameters& values) { return std::make_unique<Gpreempt>(values); };
  return policy;
}

}  // namespace corun
