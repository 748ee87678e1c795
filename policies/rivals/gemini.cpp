/// Gemini - one token for the whole device, for an adaptive quota, to the client that lacks most of its request.
/// Source:      H.-H. Chen, E.-T. Lin, Y.-M. Chou, J. Chou, "Gemini: enabling multi-tenant GPU sharing based on kernel
///              burst estimation", IEEE Transactions on Cloud Computing 2021; with KubeShare: T.-A. Yeh et al., HPDC
///              2020. Artifact: NTHU-LSALAB/Gemini (src/scheduler.cpp, schd-priority.cpp, hook.cpp, predictor.cpp,
///              tools/launch-backend.py).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     kernels pass while their client holds the token and its burst is expected to end within the quota; else
///              it drains and asks again. The token goes to the client that lacks most of its request over the window,
///              then to the one that used least, never to one over its limit. It comes back when its holder asks again
///              or its quota is over, whether or not its kernels have ended. The next quota is half the old one and
///              half the client's estimated kernel burst.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <cmath>
#include <vector>

#include "policies/builtin.h"
#include "policies/parts/kernel_bursts.h"
#include "policies/parts/token_uses.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

class Gemini : public Policy {
 public:
  explicit Gemini(const Parameters& parameters)
      : base_quota_(parameters.duration("base_quota")),
        least_quota_(parameters.duration("least_quota")),
        window_(parameters.duration("window")),
        update_rate_(parameters.real("update_rate")),
        requests_(parameters.by_client("requests")),
        limits_(parameters.by_client("limits")),
        uses_(window_) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    tenants_.resize(view.clients.size());
    Tenant tenant;
    tenant.quota = base_quota_;
    tenant.request = share_of(requests_, view.client(client), 0.0);
    tenant.limit = share_of(limits_, view.client(client), 1.0);
    tenants_[client.value] = tenant;
  }
  void on_left(const GpuView&, ClientId client) override {
    if (holder_ == client) holder_ = ClientId::none();
    std::erase(asking_, client);
  }
  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    Tenant& tenant = tenants_[client.value];
    if (op.is_kernel() && tenant.kernels++ == 0) tenant.bursts.begin(view.now);
  }
  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration) override {
    Tenant& tenant = tenants_[client.value];
    if (!op.is_kernel() || --tenant.kernels > 0) return;
    tenant.bursts.end(view.now);
    tenant.drained = view.now;
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (!holder_.is_none() && view.now >= quota_end_) holder_ = ClientId::none();
    for (const ClientView& client : view.clients)
      if (client.is_present) ask_if_due(view.now, client);
    if (holder_.is_none()) grant(view.now);
    for (const ClientView& client : view.clients)
      if (client.is_present) admit(view.now, client, actions);
    if (!holder_.is_none() && !asking_.empty()) actions.wake_at(quota_end_);
    if (holder_.is_none() && !asking_.empty()) actions.wake_at(next_change(view.now));
  }

 private:
  struct Tenant {
    double request = 0.0;  // share of the window that is guaranteed
    double limit = 1.0;    // most of it
    Duration quota{};
    KernelBursts bursts;
    std::uint32_t kernels = 0;  // in flight
    Time drained;               // when its last kernel completed
    bool is_expired = false;    // its token has come to its end: it drains
  };

  static double share_of(const ByClient& shares, const ClientView& client, double otherwise) {
    const auto found = shares.find(client.name);
    return found == shares.end() ? otherwise : found->second;
  }

  bool is_asking(ClientId client) const { return std::ranges::find(asking_, client) != asking_.end(); }

  static bool has_kernel_waiting(const ClientView& client) {
    return std::ranges::any_of(client.waiting, &OpView::is_kernel);
  }

  /// A client without a token that wants to launch a kernel drains, then asks; so does a holder whose burst would not
  /// end within its quota.
  void ask_if_due(Time now, const ClientView& client) {
    Tenant& tenant = tenants_[client.id.value];
    if (!has_kernel_waiting(client) || is_asking(client.id)) return;
    const bool holds = holder_ == client.id;
    if (holds && !tenant.is_expired) {
      tenant.is_expired = now + tenant.bursts.remaining(now) >= quota_end_ && now > granted_;
      if (tenant.is_expired) tenant.bursts.interrupt();
    }
    if (tenant.kernels > 0 || (holds && !tenant.is_expired)) return;
    if (holds) {
      uses_.end_early(client.id, now);
      holder_ = ClientId::none();
    } else {
      uses_.extend(client.id, tenant.drained);
    }
    asking_.push_back(client.id);
  }

  Duration share_of_window(double share) const {
    return Duration{static_cast<std::int64_t>(static_cast<double>(window_.count()) * share)};
  }

  /// How urgent a token is: what is missing of the request, relative to it, else minus what was used.
  double urgency(Time now, ClientId client) const {
    const double request = static_cast<double>(share_of_window(tenants_[client.value].request).count());
    const double use = static_cast<double>(uses_.used(now, client).count());
    return request > use ? (request - use) / request : -use;
  }

  bool is_under_limit(Time now, ClientId client) const {
    return uses_.used(now, client) < share_of_window(tenants_[client.value].limit);
  }

  void grant(Time now) {
    uses_.forget_old(now);
    if (asking_.empty()) return;
    ClientId chosen = ClientId::none();
    if (!uses_.is_recent(asking_.front())) {
      chosen = asking_.front();
    } else {
      for (const ClientId client : asking_)
        if (is_under_limit(now, client) && (chosen.is_none() || urgency(now, client) > urgency(now, chosen)))
          chosen = client;
    }
    if (chosen.is_none()) return;
    std::erase(asking_, chosen);
    begin_quota(now, chosen);
  }

  void begin_quota(Time now, ClientId client) {
    Tenant& tenant = tenants_[client.value];
    tenant.quota = next_quota(now, tenant);
    tenant.is_expired = false;
    holder_ = client;
    granted_ = now;
    quota_end_ = now + tenant.quota;
    uses_.begin(client, now, quota_end_);
  }

  Duration next_quota(Time now, const Tenant& tenant) const {
    const Duration burst = tenant.bursts.longest_merged(now);
    if (burst == Duration::zero()) return base_quota_;
    const double mixed = update_rate_ * static_cast<double>(burst.count()) +
                         (1.0 - update_rate_) * static_cast<double>(tenant.quota.count());
    const Duration most = std::max(Duration{1}, share_of_window(tenant.limit));
    return std::min(std::max(Duration{std::llround(mixed)}, least_quota_), most);
  }

  void admit(Time now, const ClientView& client, Actions& actions) {
    actions.close(client.id);
    const Tenant& tenant = tenants_[client.id.value];
    const bool passes = holder_ == client.id && !tenant.is_expired;
    std::uint32_t count = 0;
    for (const OpView& op : client.waiting) {
      if (op.is_kernel() && !passes) break;
      ++count;
    }
    if (count > 0) actions.admit(client.id, count);
    if (count < client.waiting.size()) actions.hold(client.id, reason(now, client));
  }

  Hold reason(Time now, const ClientView& client) const {
    const Tenant& tenant = tenants_[client.id.value];
    if (!is_asking(client.id)) return {"drain", 0, static_cast<double>(tenant.kernels), "kernels"};
    if (is_under_limit(now, client.id)) return {"token", 0, 0, ""};
    return {"limit", static_cast<double>(uses_.used(now, client.id).count()),
            static_cast<double>(share_of_window(tenant.limit).count()), "ns"};
  }

  /// When the first of those that ask, all at their limits, falls below its own.
  Time next_change(Time now) const {
    Time first = kNever;
    for (const ClientId client : asking_)
      first = std::min(first, uses_.below_at(now, client, share_of_window(tenants_[client.value].limit)));
    return first;
  }

  const Duration base_quota_;
  const Duration least_quota_;
  const Duration window_;
  const double update_rate_;
  const ByClient requests_;
  const ByClient limits_;
  std::vector<Tenant> tenants_;   // by client
  std::vector<ClientId> asking_;  // in order
  TokenUses uses_;
  ClientId holder_ = ClientId::none();
  Time granted_;
  Time quota_end_;
};

ParameterTable parameters() {
  ParameterTable table;
  table.duration("base_quota", 300ms)
      .range(1ms, 10s)
      .means("Quota of a client whose kernel bursts are not known.")
      .from("artifact, tools/launch-backend.py as KubeShare uses it (250ms built in)");
  table.duration("least_quota", 20ms)
      .range(1ms, 10s)
      .means("Shortest quota of estimated bursts.")
      .from("artifact, tools/launch-backend.py as KubeShare uses it (100ms built in)");
  table.duration("window", 10'000ms)
      .range(10ms, 100s)
      .means("Span of time over which use is compared with requests and limits.")
      .from("artifact");
  table.real("update_rate", 0.5)
      .range(0.0, 1.0)
      .means("Weight of the estimated burst in the next quota.")
      .from("artifact, src/scheduler.cpp");
  table.by_client("requests")
      .range(0.0, 1.0, "of the window")
      .means("Share of the window that each client is guaranteed.")
      .from("artifact: 0 by default");
  table.by_client("limits")
      .range(0.01, 1.0, "of the window")
      .means("Most of the window that each client may use.")
      .from("artifact: 1 by default");
  return table;
}

}  // namespace

PolicyDescriptor gemini_policy() {
  PolicyDescriptor policy;
  policy.name = "gemini";
  policy.summary = "One exclusive token with adaptive quotas, by requested and limited shares of a sliding window.";
  policy.source =
      "H.-H. Chen, E.-T. Lin, Y.-M. Chou, J. Chou, \"Gemini: enabling multi-tenant GPU sharing based on kernel burst "
      "estimation\", IEEE TCC 2021; used by KubeShare (HPDC 2020); artifact NTHU-LSALAB/Gemini";
  policy.deviations = {
      "A burst ends when nothing is in flight; the artifact sees the program's own synchronisations.",
      "The scheduler counts as running for a whole window already when a run begins.",
      "Use that overlaps after a late kernel is charged to both sides; the artifact halves it.",
      "A client over its limit may get the token again at the instant at which it is below; the artifact checks when "
      "the oldest use has left the window.",
      "Memory limits are absent; messages take no time; render work and copies pass, as no hook gates them.",
  };
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<Gemini>(values); };
  return policy;
}

}  // namespace corun
