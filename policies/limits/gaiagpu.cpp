/// GaiaGPU - a token bucket of thread blocks per client, refilled by a feedback controller on measured utilisation.
/// Source:      J. Gu, S. Song, Y. Li, H. Luo, "GaiaGPU: sharing GPUs in container clouds", ISPA 2018.
///              Artifact: tkestack/vcuda-controller (src/hijack_call.c, include/hijack.h).
/// Hears:       submissions, launches.      Needs: device time per client.
/// Decides:     a limited client may launch while its bucket is not in debt; a launch costs its thread blocks. A launch
///              that finds a debt sleeps and looks again every back-off. Every tick the watcher compares utilisation
///              with the limit, moves the client's share towards it and adds the share to the bucket. A client that
///              asks for more memory than its cap is answered with an error. Limit and cap are parameters or what the
///              client's owner asks for, when it starts or, as in the paper, while it runs.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <cmath>
#include <vector>

#include "policies/builtin.h"
#include "policies/limits/gaiagpu_buckets.h"
#include "policies/limits/quotas.h"
#include "sim/policy/client_set.h"

namespace corun {

namespace {

GaiaLimiter::Rules rules_of(const Parameters& parameters) {
  const auto percent = [&](const char* name) { return std::lround(parameters.real(name) * 100.0); };
  const std::string& mode = parameters.choice("mode");
  GaiaLimiter::Rules rules;
  if (mode == "elastic") rules.mode = GaiaLimiter::Mode::kElastic;
  if (mode == "elastic_paper") rules.mode = GaiaLimiter::Mode::kElasticPaper;
  rules.ceiling = percent("ceiling");
  rules.device_ceiling = percent("device_ceiling");
  return rules;
}

class GaiaGpu : public Policy {
 public:
  explicit GaiaGpu(const Parameters& parameters)
      : resizes_(parameters.choice("resize") == "at_once"),
        quotas_(parameters.by_client("limits"), parameters.by_client("memory_limits")),
        buckets_(parameters, rules_of(parameters)) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    memory_.resize(view.clients.size());
    const Quota& quota = quotas_.join(view, client);
    memory_[client.value] = needed(view, view.client(client)) <= cap(client) ? Memory::kFits : Memory::kTooMuch;
    if (memory_[client.value] == Memory::kFits) buckets_.join(view, client, quota.share);
  }
  void on_left(const GpuView&, ClientId client) override {
    if (memory_[client.value] == Memory::kFits) buckets_.leave(client);
    quotas_.leave(client);
  }
  void on_resized(const GpuView& view, ClientId client) override {
    if (!resizes_ || memory_[client.value] != Memory::kFits) return;
    if (quotas_.resize(view, client)) buckets_.join(view, client, quotas_.of(client).share);
  }
  void on_launched(const GpuView&, ClientId client, const OpView& op) override { buckets_.charge(client, op); }

  /// The cap holds for allocations and context together, which programs are told is all that there is.
  MemoryTerms memory_terms(const GpuView& view, const ClientView& client) const override {
    const std::optional<double>& most = quotas_.of(client.id).bytes;
    if (!most) return {};
    const auto told = static_cast<std::uint64_t>(*most);
    return {.most_bytes = std::max(told, view.device.context_bytes + 1) - view.device.context_bytes,
            .told_bytes = told};
  }

  /// A launch costs its client tokens, which another one does not feel.
  bool decides_after(const GpuView& view, ClientId client, OpEvent) const override {
    return memory_[client.value] != Memory::kFits || !view.client(client).waiting.empty();
  }

  void decide(const GpuView& view, Actions& actions) override {
    actions.keep_holds();
    const bool are_buckets_filled = buckets_.any() && buckets_.watch(view, actions);
    looks_at_ = asleep_;
    asleep_.clear();
    looks_at_.insert_all(view.changed);
    if (are_buckets_filled)
      for (const ClientView& client : view.clients) looks_at_.insert(client.id);
    looks_at_.for_each([&](ClientId client) {
      if (view.client(client).is_present) settle(view, view.client(client), actions);
    });
  }

 private:
  enum class Memory : std::uint8_t { kFits, kTooMuch, kRefused };

  void settle(const GpuView& view, const ClientView& client, Actions& actions) {
    if (memory_[client.id.value] != Memory::kFits) return refuse(view, client, actions);
    if (!buckets_.is_limited(client.id)) return actions.open(client.id);
    if (client.gate_is_open) actions.close(client.id);  // it had no limit before
    if (buckets_.admit(view, client, actions)) asleep_.insert(client.id);
  }

  static double needed(const GpuView& view, const ClientView& client) {
    return static_cast<double>(client.allocated_bytes + view.device.context_bytes);
  }

  double cap(ClientId client) const { return quotas_.of(client).bytes.value_or(HUGE_VAL); }

  void refuse(const GpuView& view, const ClientView& client, Actions& actions) {
    actions.hold(client.id, {"memory_cap", needed(view, client), cap(client.id), "bytes"});
    if (memory_[client.id.value] == Memory::kTooMuch) actions.refuse(client.id);
    memory_[client.id.value] = Memory::kRefused;
  }

  const bool resizes_;
  Quotas quotas_;
  BlockBuckets buckets_;
  std::vector<Memory> memory_;  // by client
  ClientSet asleep_;            // clients whose launch sleeps although there are tokens
  ClientSet looks_at_;          // in this decision
};

ParameterTable parameters() {
  ParameterTable table = bucket_parameters("artifact, src/hijack_call.c and include/hijack.h", 2);
  table.by_client("memory_limits")
      .range(0.25, 1024.0, "GiB")
      .means(
          "Device memory each client may use, its context included; one without a value has its owner's "
          "`requested_memory`; no cap for clients without either or with a limit of 1.")
      .from("artifact: multiples of 256 MiB, no cap for a whole card");
  table.choice("mode", {"hard", "elastic", "elastic_paper"})
      .means(
          "Whether a limit stays; grows by a tenth of the request every 30 ticks while the device has 5 % to spare, "
          "until a client arrives; or grows below and is given back above `device_ceiling`.")
      .from("artifact, src/hijack_call.c (default of its pod annotation: hard)");
  table.real("ceiling", 1.0)
      .range(0.01, 1.0, "of the device")
      .means("Most that an elastic limit can grow to.")
      .from("artifact: most that its pod annotation can say");
  table.real("device_ceiling", 0.9)
      .range(0.01, 1.0, "of the device")
      .means("Utilisation of the device above which limits of mode elastic_paper are given back.")
      .from("paper: maximum GPU utilisation");
  table.choice("resize", {"never", "at_once"})
      .means("Whether what an owner asks for while its client runs counts: never, or from the next tick on.")
      .from("artifact: writes a container's limits once; at_once is the paper's dynamic allocation");
  return table;
}

}  // namespace

PolicyDescriptor gaiagpu_policy() {
  PolicyDescriptor policy;
  policy.name = "gaiagpu";
  policy.summary = "Utilisation and memory limits per client, by a token bucket of thread blocks and a controller.";
  policy.source =
      "J. Gu, S. Song, Y. Li, H. Luo, \"GaiaGPU: sharing GPUs in container clouds\", ISPA 2018; artifact "
      "tkestack/vcuda-controller";
  policy.deviations = {
      "Utilisation is device time over the window, sampled at a fixed period from the instant at which the first "
      "limited client joined; before the first sample it reads as 0, where the artifact waits for one.",
      "The artifact adds 85 % of video encoding and decoding to utilisation; neither is modelled.",
      "In a simulation, memory is checked once, when the client joins, with all that it is going to allocate and one "
      "context. Live, each allocation is checked; the artifact asks the driver what processes hold, here allocations "
      "are summed and a client counts one context, and programs are told that no more is free than is.",
      "A launch of unknown size costs one block; copies and render work are free, as no hook sees them.",
      "The artifact does not see launches of graphs; here each kernel of a graph is a launch and costs its blocks.",
      "Watchers tick from the instant at which their client joined. A client has one watcher and one bucket; in the "
      "artifact each process of a container has its own.",
      "Arrays count their size; the artifact takes the bits of an element for bytes. Pools and `cuMemCreate` count "
      "too, which the artifact does not see.",
      "The interval and the step with which the paper's elastic limits change are not known; they are the artifact's.",
      "The paper does not say what happens to a resize for which the card has no room; here it is refused as a whole "
      "and forgotten. The artifact writes a container's limits once and never again.",
      "A resized memory cap counts only in the memory that the card has left, since all allocation is over by then.",
  };
  policy.parameters = parameters();
  policy.needs.device_time = true;
  policy.forgets = true;
  policy.create = [](const Parameters& values) { return std::make_unique<GaiaGpu>(values); };
  return policy;
}

}  // namespace corun
