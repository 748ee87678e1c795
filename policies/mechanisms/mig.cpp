/// MIG - each client has a device instance of its own, cut from the device in the sizes that real parts offer.
/// Source:      NVIDIA Multi-Instance GPU user guide: profiles of A100, H100 and H200 and their placements.
/// Hears:       clients joining and leaving.      Needs: nothing.
/// Decides:     a client that joins gets an instance of its stated number of compute slices (1, 2, 3, 4 or 7 of 7) if
///              there is a legal place for it among the 8 memory slices: larger ones first, then in joining order, from
///              the last place to the first. Its gate opens with its instance; a client without a place waits until
///              others have left. A number of slices that no profile has is refused.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <span>
#include <vector>

#include "policies/builtin.h"

namespace corun {

namespace {

constexpr int kComputeSlices = 7;
constexpr int kMemorySlices = 8;

/// A size of instance: how many memory slices it takes and where it may begin, the preferred place first.
struct Profile {
  int compute_slices;
  std::size_t memory_slices;
  std::array<int, kComputeSlices> begins;
  std::size_t places;
};
constexpr Profile kProfiles[] = {
    {1, 1, {6, 5, 4, 3, 2, 1, 0}, 7}, {2, 2, {4, 2, 0}, 3}, {3, 4, {4, 0}, 2}, {4, 4, {0}, 1}, {7, 8, {0}, 1}};

const Profile* profile_of(double compute_slices) {
  const auto found = std::ranges::find_if(
      kProfiles, [&](const Profile& profile) { return static_cast<double>(profile.compute_slices) == compute_slices; });
  return found == std::end(kProfiles) ? nullptr : found;
}

using MemorySlices = std::bitset<kMemorySlices>;

/// The slices of the first place that is free, none if there is no such place.
MemorySlices place_for(const Profile& profile, const MemorySlices& taken) {
  const MemorySlices size((1U << profile.memory_slices) - 1);
  for (const int begin : std::span(profile.begins).first(profile.places))
    if ((taken & (size << static_cast<std::size_t>(begin))).none()) return size << static_cast<std::size_t>(begin);
  return {};
}

class Mig : public Policy {
 public:
  explicit Mig(const Parameters& parameters)
      : named_(parameters.by_client("instances")),
        others_(static_cast<double>(parameters.integer("default_instance"))) {}

  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    const auto named = named_.find(view.client(client).name);
    const double slices = named != named_.end() ? named->second : others_;
    const auto smaller = std::ranges::find_if(tenants_, [&](const Tenant& tenant) { return tenant.slices < slices; });
    tenants_.insert(smaller, Tenant{client, slices, profile_of(slices), {}, false});
  }

  void on_left(const GpuView&, ClientId client) override {
    std::erase_if(tenants_, [&](const Tenant& tenant) { return tenant.client == client; });
  }

  void decide(const GpuView&, Actions& actions) override {
    for (Tenant& tenant : tenants_) {
      if (tenant.profile == nullptr) {
        refuse(tenant, actions);
      } else {
        serve(tenant, actions);
      }
    }
  }

 private:
  struct Tenant {
    ClientId client;
    double slices;           // as asked for
    const Profile* profile;  // null = there is none of that size
    MemorySlices place;      // none = it waits
    bool is_refused;
  };

  void refuse(Tenant& tenant, Actions& actions) const {
    actions.hold(tenant.client, {"no_such_instance", 0, 0, ""});
    if (!tenant.is_refused) actions.refuse(tenant.client);
    tenant.is_refused = true;
  }

  void serve(Tenant& tenant, Actions& actions) const {
    if (tenant.place.none()) tenant.place = place_for(*tenant.profile, taken());
    if (tenant.place.none()) return wait(tenant, actions);
    actions.set_instance(tenant.client, static_cast<double>(tenant.profile->compute_slices) / kComputeSlices);
    actions.open(tenant.client);
  }

  void wait(const Tenant& tenant, Actions& actions) const {
    const double free = kMemorySlices - static_cast<double>(taken().count());
    actions.hold(tenant.client,
                 {"no_free_instance", static_cast<double>(tenant.profile->memory_slices), free, "memory slices"});
  }

  MemorySlices taken() const {
    MemorySlices all;
    for (const Tenant& tenant : tenants_) all |= tenant.place;
    return all;
  }

  const ByClient named_;
  const double others_;
  std::vector<Tenant> tenants_;  // present clients, larger ones first
};

}  // namespace

PolicyDescriptor mig_policy() {
  PolicyDescriptor policy;
  policy.name = "mig";
  policy.summary = "Each client has a device instance of its own, in the sizes and places that real parts offer.";
  policy.source = "NVIDIA Multi-Instance GPU user guide: profiles and placements of A100, H100 and H200";
  policy.deviations = {
      "Instances come and go with their clients, at once; on real devices an operator makes them beforehand, and a "
      "client without a place is an error.",
      "One client has one instance; clients cannot share one.",
      "n slices have n sevenths of all SMs and of the memory bandwidth, and 3 slices have half of the memory; real "
      "profiles differ a little (of the 132 SMs of an H100, 1g has 16 and 3g has 60).",
      "Profiles with more memory than usual for their slices are absent.",
  };
  policy.parameters.by_client("instances")
      .range(1, kComputeSlices, "slices")
      .means("Compute slices of a client's instance: 1, 2, 3, 4 or 7.")
      .from("user guide: profiles 1g, 2g, 3g, 4g, 7g");
  policy.parameters.integer("default_instance", 1)
      .range(1, kComputeSlices, "slices")
      .means("Compute slices of clients that are not named.")
      .from("ours: the smallest");
  policy.create = [](const Parameters& values) { return std::make_unique<Mig>(values); };
  return policy;
}

}  // namespace corun
