#include "experiments/run/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "experiments/question/device_choice.h"
#include "experiments/run/clients/client_builder.h"
#include "experiments/run/plan.h"
#include "sim/workload/capture/frame_draws.h"

namespace corun {

namespace {

constexpr double kSame = 0.01;
constexpr std::size_t kMostCombined = 2;  // programs whose ends are combined in every way

/// Clients of one capture, read in one way.
struct Program {
  const ClientChoice* first;
  std::vector<std::size_t> clients;  ///< indices into Scenario::clients
};
using Ends = std::vector<std::size_t>;  // by program, 0 or 1

bool is_same_program(const ClientChoice& a, const ClientChoice& b) {
  return a.trace == b.trace && a.options == b.options;
}

std::vector<Ends> combinations(std::size_t programs) {
  std::vector<Ends> all;
  const std::size_t combined = std::min(programs, kMostCombined);
  if (programs == combined) {
    for (std::size_t bits = 0; bits < (std::size_t{1} << programs); ++bits) {
      Ends& ends = all.emplace_back();
      for (std::size_t i = 0; i < programs; ++i) ends.push_back(bits >> i & 1);
    }
    return all;
  }
  for (const std::size_t most : {0, 1}) {
    all.emplace_back(programs, most);
    for (std::size_t i = 0; i < programs; ++i) {
      all.emplace_back(programs, most);
      all.back()[i] = 1 - most;
    }
  }
  return all;
}

/// What of programs is not known, and its two ends.
class Unknown {
 public:
  explicit Unknown(const FileHashes& hashes) : builder_(hashes, true) {}
  virtual ~Unknown() = default;
  Unknown(const Unknown&) = delete;
  Unknown& operator=(const Unknown&) = delete;

  /// Nothing tells it.
  virtual bool may_be(const Scenario& scenario, const ClientChoice& client) = 0;
  /// It makes a difference, too. Of clients of which it may be.
  virtual bool is(const Scenario& scenario, const ClientChoice& client) = 0;
  virtual void set(ClientChoice& client, std::size_t end) const = 0;
  virtual std::array<const char*, 2> ends() const = 0;

 protected:
  ClientSpec as_captured(const Scenario& scenario, const ClientChoice& client) {
    return builder_.as_captured(scenario, client, scenario.seeds.front());
  }

 private:
  ClientBuilder builder_;
};

class HostSpeed : public Unknown {
 public:
  explicit HostSpeed(const FileHashes& hashes) : Unknown(hashes), hashes_(hashes) {}

  bool may_be(const Scenario& scenario, const ClientChoice& client) override {
    if (client.trace.empty() || client.solo_rate || client.host_gaps != HostGaps::kRange) return false;
    if (client.server && !client.server->step_times.path.empty()) return false;
    const Workload& workload = *as_captured(scenario, client).workload;
    return workload.tracer != Workload::Tracer::kNone && !(workload.untraced_jobs_per_s > 0);
  }

  bool is(const Scenario& scenario, const ClientChoice& client) override {
    const std::pair key(device_text(scenario.device), canonical_client(client, hashes_));
    const auto [found, is_new] = known_.try_emplace(key, false);
    if (is_new) {
      const ClientSpec spec = as_captured(scenario, client);
      const double slowest = solo_rate_at(spec, scenario.device, 1.0),
                   fastest = solo_rate_at(spec, scenario.device, 0.0);
      found->second = !(std::abs(fastest / slowest - 1) <= kSame);
    }
    return found->second;
  }

  void set(ClientChoice& client, std::size_t end) const override {
    client.host_gaps = end == 0 ? HostGaps::kRecorded : HostGaps::kNone;
    client.is_bound = true;
  }

  std::array<const char*, 2> ends() const override { return {"slowest", "fastest"}; }

 private:
  const FileHashes& hashes_;
  std::map<std::pair<std::string, std::string>, bool> known_;
};

class DrawLength : public Unknown {
 public:
  using Unknown::Unknown;

  bool may_be(const Scenario& scenario, const ClientChoice& client) override {
    return scenario.clients.size() > 1 && !scenario.cluster && !client.trace.empty() &&
           FrameDraws::are_unknown(*as_captured(scenario, client).workload);
  }

  bool is(const Scenario&, const ClientChoice&) override { return true; }

  void set(ClientChoice& client, std::size_t end) const override {
    client.options.draw = end == 0 ? kShortDraws : kOneDraw;
    client.has_bound_draw = true;
  }

  std::array<const char*, 2> ends() const override { return {"short draws", "one draw a frame"}; }
};

std::vector<Program> unknown_programs(const Scenario& scenario, Unknown& unknown) {
  std::vector<Program> programs;
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const ClientChoice& client = scenario.clients[i];
    if (!unknown.may_be(scenario, client)) continue;
    const auto known =
        std::ranges::find_if(programs, [&](const Program& program) { return is_same_program(*program.first, client); });
    if (known != programs.end())
      known->clients.push_back(i);
    else
      programs.push_back({&client, {i}});
  }
  std::erase_if(programs, [&](const Program& program) {
    return std::ranges::none_of(program.clients,
                                [&](std::size_t i) { return unknown.is(scenario, scenario.clients[i]); });
  });
  return programs;
}

Scenario bound_of(const Scenario& scenario, const std::vector<Program>& programs, const Ends& ends,
                  const Unknown& unknown) {
  Scenario bound = scenario;
  std::vector<std::string> words;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    words.push_back(fmt::format("{} {}", programs[p].first->name, unknown.ends()[ends[p]]));
    for (const std::size_t client : programs[p].clients) unknown.set(bound.clients[client], ends[p]);
  }
  bound.bounds = scenario.own_name();
  bound.name = fmt::format("{} ({})", scenario.name, fmt::join(words, ", "));
  return bound;
}

template <class What>
Experiment with_ranges(Experiment experiment) {
  try {
    const FileHashes hashes = make_plan(experiment).hashes;
    What unknown(hashes);
    std::vector<Scenario> scenarios;
    for (const Scenario& scenario : experiment.scenarios) {
      const std::vector<Program> programs = unknown_programs(scenario, unknown);
      if (programs.empty())
        scenarios.push_back(scenario);
      else
        for (const Ends& ends : combinations(programs.size()))
          scenarios.push_back(bound_of(scenario, programs, ends, unknown));
    }
    experiment.scenarios = std::move(scenarios);
  } catch (const Error&) {
    // Found again, and located, by whatever checks the experiment.
  }
  return experiment;
}

}  // namespace

Experiment with_host_ranges(Experiment experiment) { return with_ranges<HostSpeed>(std::move(experiment)); }

Experiment with_draw_ranges(Experiment experiment) { return with_ranges<DrawLength>(std::move(experiment)); }

}  // namespace corun
