#include "experiments/run/clients/mig_check.h"

#include <algorithm>
#include <set>

#include "experiments/run/clients/memory_check.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::string_view kPolicy = "mig";

using Profiles = std::vector<const MigProfile*>;

std::string names_of(const Profiles& profiles) {
  std::vector<std::string> names;
  for (const MigProfile* profile : profiles) names.push_back(profile->name);
  return fmt::format("{}", fmt::join(names, " + "));
}

/// Whether `rest` have places among the memory slices that are not `taken`.
bool have_places(std::span<const MigProfile* const> rest, std::uint32_t taken) {
  if (rest.empty()) return true;
  const std::uint32_t size = (1U << rest.front()->memory_slices) - 1;
  return std::ranges::any_of(rest.front()->begins, [&](std::uint32_t begin) {
    return (taken & (size << begin)) == 0 && have_places(rest.subspan(1), taken | (size << begin));
  });
}

bool fit_together(Profiles profiles) {
  std::ranges::stable_sort(profiles, std::greater<>(), &MigProfile::memory_slices);
  return have_places(profiles, 0);
}

/// Adds to `found` the sets of `count` more profiles that fit beside `chosen`, each in descending order.
void add_sets(const std::vector<MigProfile>& known, std::size_t count, Profiles& chosen,
              std::vector<std::string>& found) {
  if (count == 0) return found.push_back(names_of(chosen));
  for (auto profile = known.rbegin(); profile != known.rend(); ++profile) {
    if (!chosen.empty() && profile->slices > chosen.back()->slices) continue;
    chosen.push_back(&*profile);
    if (fit_together(chosen)) add_sets(known, count - 1, chosen, found);
    chosen.pop_back();
  }
}

std::string sets_that_fit(const std::vector<MigProfile>& known, std::size_t count) {
  std::vector<std::string> found;
  Profiles chosen;
  add_sets(known, count, chosen, found);
  if (found.empty()) return fmt::format("no {} instances fit on it", count);
  return fmt::format("{} that fit: {}", count, fmt::join(found, ", "));
}

std::string models_with_mig() {
  std::vector<std::string_view> names;
  for (const BuiltinDevice& builtin : builtin_devices())
    if (!read_device_file(builtin.text, std::string(builtin.model)).facts.mig.empty()) names.push_back(builtin.model);
  return fmt::format("{}", fmt::join(names, ", "));
}

class MigCheck {
 public:
  MigCheck(const Scenario& scenario, const std::vector<ClientSpec>& clients, const PolicyChoice& policy,
           Diagnostics& refusals)
      : scenario_(scenario), clients_(clients), policy_(policy), refusals_(refusals) {}

  void run() {
    if (profiles().empty())
      return refuse(
          fmt::format("{} has no MIG", scenario_.device.name),
          fmt::format("devices with MIG: {}; a device file lists its profiles under `mig`", models_with_mig()));
    Profiles together;
    for (const ClientSpec& client : clients_) {
      const MigProfile* profile = profile_of(client);
      if (profile == nullptr) continue;
      check_memory(client, *profile);
      if (is_always_there(client)) together.push_back(profile);
    }
    if (!fit_together(together))
      refuse(fmt::format("instances {} do not fit together on {}", names_of(together), scenario_.device.name),
             sets_that_fit(profiles(), together.size()));
  }

 private:
  const std::vector<MigProfile>& profiles() const { return scenario_.device_facts.mig; }

  void refuse(std::string message, std::string help) {
    refusals_.add(Error(ErrorKind::kInput, policy_.where, fmt::format("policy `{}`: {}", policy_.label, message),
                        std::move(help)),
                  scenario_.where);
  }

  /// Null after a refusal.
  const MigProfile* profile_of(const ClientSpec& client) {
    const ByClient& named = policy_.parameters.by_client("instances");
    const auto own = named.find(client.name);
    const double slices =
        own != named.end() ? own->second : static_cast<double>(policy_.parameters.integer("default_instance"));
    for (const MigProfile& profile : profiles())
      if (static_cast<double>(profile.slices) == slices) return &profile;
    Profiles known;
    for (const MigProfile& profile : profiles()) known.push_back(&profile);
    std::vector<std::string> texts;
    for (const MigProfile* profile : known) texts.push_back(fmt::format("{} ({})", profile->slices, profile->name));
    refuse(fmt::format("client `{}` asks for {} compute slices, which no profile of {} has", client.name, slices,
                       scenario_.device.name),
           fmt::format("sizes: {}", fmt::join(texts, ", ")));
    return nullptr;
  }

  void check_memory(const ClientSpec& client, const MigProfile& profile) {
    const std::uint64_t needed = needed_bytes(client, scenario_.device);
    if (needed == 0 || needed + scenario_.device.context_bytes <= profile.memory_bytes) return;
    refuse(fmt::format("client `{}` needs {} and its context {}, and its instance {} has {}", client.name,
                       format_size(needed), format_size(scenario_.device.context_bytes), profile.name,
                       format_size(profile.memory_bytes)),
           "an instance does not page; give the client a larger one");
  }

  static bool is_always_there(const ClientSpec& client) {
    return client.arrival == Duration{0} && client.stay == Duration{0} && client.repeat == 0;
  }

  const Scenario& scenario_;
  const std::vector<ClientSpec>& clients_;
  const PolicyChoice& policy_;
  Diagnostics& refusals_;
};

}  // namespace

void refuse_impossible_instances(const Scenario& scenario, const std::vector<ClientSpec>& clients,
                                 Diagnostics& refusals) {
  if (scenario.cluster) return;
  for (const PolicyChoice& policy : scenario.policies)
    if (policy.policy == kPolicy) MigCheck(scenario, clients, policy, refusals).run();
}

}  // namespace corun
