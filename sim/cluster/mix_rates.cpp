#include "sim/cluster/mix_rates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "sim/cluster/pod_kinds.h"

namespace corun {

namespace {

constexpr double kApart = 0.6180339887498949;  // multiples of it have no two fractional parts near one another

/// The ends of the jobs of each client, and what a mix cannot have.
class JobEnds : public Recorder {
 public:
  explicit JobEnds(std::size_t clients) : ends(clients) {}
  void on_job(const JobFact& job) override { ends[job.client.value].push_back(job.end); }
  void on_kill(const KillFact& kill) override { killed = kill.client.value; }
  void on_refusal(const RefusalFact& refusal) override { refused = refusal.client.value; }

  std::vector<std::vector<Time>> ends;
  std::optional<std::uint32_t> killed, refused;
};

struct Counted {
  std::uint64_t jobs = 0;
  double ns = 0;  ///< that they took
  double rate() const { return static_cast<double>(jobs) / ns; }
};

/// From one end of a job to another in [begin, end), over whole passes if there is one.
Counted count(const std::vector<Time>& ends, Time begin, Time end, std::uint64_t pass) {
  const auto first = std::ranges::lower_bound(ends, begin);
  const auto behind = std::ranges::lower_bound(ends, end);
  if (behind - first < 2) return {};
  std::int64_t jobs = behind - first - 1;
  if (jobs >= static_cast<std::int64_t>(pass)) jobs -= jobs % static_cast<std::int64_t>(pass);
  return {static_cast<std::uint64_t>(jobs), static_cast<double>((*(first + jobs) - *first).count())};
}

/// Ends of whole passes up to `last`, in ns since the start.
std::vector<double> pass_ends(const std::vector<Time>& ends, Time last, std::uint64_t pass) {
  std::vector<double> found;
  for (std::uint64_t i = pass - 1; i < ends.size() && ends[i] <= last; i += pass)
    found.push_back(static_cast<double>((ends[i] - kRunStart).count()));
  return found;
}

class MixMeasurement {
 public:
  MixMeasurement(const CardSharing& sharing, const Mix& mix, Duration window, const SourceLocation& where,
                 const std::atomic<bool>* interrupt)
      : sharing_(sharing), mix_(mix), window_(window), where_(where), interrupt_(interrupt), seen_(mix.size()) {
    for (const MixMember& member : mix) models_.push_back(&model_of(sharing, member.client));
  }

  MixRates run() {
    simulate_from(std::vector<Duration>(mix_.size()), false);
    std::vector<Duration> apart;
    for (std::size_t i = 0; i < mix_.size(); ++i) {
      const double part = std::fmod(static_cast<double>(i) * kApart, 1.0);
      apart.emplace_back(std::min(static_cast<std::int64_t>(part / seen_[i].all.rate()), to_ns(warmup())));
    }
    simulate_from(apart, true);
    return pooled();
  }

 private:
  /// Of a member, in all windows so far.
  struct Seen {
    Counted all;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    std::vector<double> first_passes{};  ///< their ends in ns, where all began together
  };

  Duration warmup() const { return window_ / 2; }

  ClientSpec endless(std::size_t i, Duration arrival, bool is_drawn) const {
    PodSpec pod;
    pod.name = fmt::format("{}#{}", mix_[i].client, i + 1);
    pod.milli = mix_[i].milli;
    pod.memory_bytes = mix_[i].memory_bytes;
    ClientSpec client = pod_client(*models_[i], pod);
    client.repeat = 0;
    client.arrival = arrival;
    client.random_first_job = client.random_first_job || is_drawn;
    return client;
  }

  void simulate_from(const std::vector<Duration>& arrivals, bool is_drawn) {
    const std::unique_ptr<Policy> policy = sharing_.make_policy();
    RunInput input{.device = sharing_.device,
                   .clients = {},
                   .policy = policy.get(),
                   .policy_name = sharing_.policy_name,
                   .horizon = warmup() + window_,
                   .warmup = warmup(),
                   .seed = sharing_.seed,
                   .tells_exact_durations = sharing_.tells_exact_durations,
                   .gate = sharing_.gate,
                   .interrupt = interrupt_};
    for (std::size_t i = 0; i < mix_.size(); ++i) input.clients.push_back(endless(i, arrivals[i], is_drawn));
    JobEnds jobs(mix_.size());
    events_ += simulate(input, jobs).events;
    if (jobs.killed) refuse(*jobs.killed, "is killed and restored");
    if (jobs.refused) refuse(*jobs.refused, "is answered with an error");
    for (std::size_t i = 0; i < mix_.size(); ++i) add(i, jobs.ends[i]);
  }

  void add(std::size_t i, const std::vector<Time>& ends) {
    const Time begin = kRunStart + warmup(), middle = begin + window_ / 2, end = begin + window_;
    const std::uint64_t pass = models_[i]->workload->jobs.size();
    const Counted all = count(ends, begin, end, pass);
    const Counted halves[] = {count(ends, begin, middle, pass), count(ends, middle, end, pass)};
    if (all.jobs < kFewestMixJobs || halves[0].jobs == 0 || halves[1].jobs == 0)
      refuse(i, fmt::format("finishes {} jobs in {} s, or none in a half of them", all.jobs, to_seconds(window_)));
    if (all.jobs < pass) parts_.insert(mix_[i].client);
    if (seen_[i].all.jobs == 0) seen_[i].first_passes = pass_ends(ends, begin, pass);
    seen_[i].all.jobs += all.jobs;
    seen_[i].all.ns += all.ns;
    for (const Counted& half : halves) {
      seen_[i].least = std::min(seen_[i].least, half.rate());
      seen_[i].most = std::max(seen_[i].most, half.rate());
    }
  }

  [[noreturn]] void refuse(std::size_t member, const std::string& why) const {
    std::vector<std::string> names;
    for (const MixMember& its : mix_) names.push_back(its.client);
    throw Error(ErrorKind::kUnsupported, where_,
                fmt::format("`progress: by_mix`: on a card with {} under `{}`, {} {}; take a longer `mix_window` for "
                            "long jobs and turns, else `progress: simulated`",
                            fmt::join(names, ", "), sharing_.policy_name, mix_[member].client, why));
  }

  /// Equal members stand next to one another.
  MixRates pooled() const {
    MixRates rates{{}, {parts_.begin(), parts_.end()}, events_};
    for (std::size_t first = 0, end = 0; first < mix_.size(); first = end) {
      end = first + static_cast<std::size_t>(std::ranges::count(mix_, mix_[first]));
      const std::span<const Seen> equal(seen_.data() + first, end - first);
      rates.members.insert(rates.members.end(), equal.size(), pooled(equal, models_[first]->workload->jobs.size()));
    }
    return rates;
  }

  static MixRate pooled(std::span<const Seen> equal, std::uint64_t pass) {
    MixRate rate{.least = equal.front().least, .most = equal.front().most};
    Counted all;
    std::size_t passes = SIZE_MAX;
    for (const Seen& seen : equal) {
      all.jobs += seen.all.jobs;
      all.ns += seen.all.ns;
      rate.least = std::min(rate.least, seen.least);
      rate.most = std::max(rate.most, seen.most);
      passes = std::min(passes, seen.first_passes.size());
    }
    rate.mean = all.rate();
    rate.least = std::min(rate.least, rate.mean);
    rate.most = std::max(rate.most, rate.mean);
    for (std::size_t i = 0; i < passes; ++i) {
      double ns = 0;
      for (const Seen& seen : equal) ns += seen.first_passes[i];
      rate.start.push_back(rate.mean * ns / static_cast<double>(equal.size()) - static_cast<double>((i + 1) * pass));
    }
    return rate;
  }

  const CardSharing& sharing_;
  const Mix& mix_;
  const Duration window_;
  const SourceLocation& where_;
  const std::atomic<bool>* const interrupt_;
  std::vector<const ClientSpec*> models_;  ///< by member
  std::vector<Seen> seen_;                 ///< by member
  std::set<std::string> parts_;
  std::uint64_t events_ = 0;
};

}  // namespace

MixRates measure_mix(const CardSharing& sharing, const Mix& mix, Duration window, const SourceLocation& where,
                     const std::atomic<bool>* interrupt) {
  CORUN_ASSERT(!mix.empty() && std::ranges::is_sorted(mix), "a mix of {} pods", mix.size());
  return MixMeasurement(sharing, mix, window, where, interrupt).run();
}

}  // namespace corun
