#include "experiments/run/clients/memory_check.h"

#include <algorithm>

#include "traces/base/units.h"

namespace corun {

namespace {

bool may_page(const ClientSpec& client, const DeviceSpec& device) {
  return pages(device) && client.context.working_set_bytes > 0;
}

/// Whether a client is there for certain when a run is `at` old: one whose passes end may have left.
bool is_present(const ClientSpec& client, Duration at) {
  if (client.arrival > at) return false;
  if (client.stay > Duration{0}) return at < client.arrival + client.stay;
  return client.repeat == 0 || client.arrival == at;
}

struct Demand {
  std::uint64_t bytes = 0;  ///< with contexts
  std::size_t contexts = 0;
  std::vector<std::string> clients;  ///< "a (60GiB)"
};

/// Of what stays in memory while a client that arrives at `at` is there.
Demand demand_at(Duration at, const std::vector<ClientSpec>& clients, const DeviceSpec& device) {
  Demand demand;
  for (const ClientSpec& client : clients) {
    if (!is_present(client, at)) continue;
    const std::uint64_t needed = may_page(client, device) ? 0 : needed_bytes(client, device);
    demand.bytes += needed + device.context_bytes;
    ++demand.contexts;
    if (needed > 0) demand.clients.push_back(fmt::format("{} ({})", client.name, format_size(needed)));
  }
  return demand;
}

std::string help_for(const DeviceSpec& device) {
  if (pages(device))
    return "a client that states its `working_set` may page; `allocated` states another need (docs/memory.md)";
  return fmt::format(
      "{} has no `handover_bandwidth`, so nothing pages on it: to let clients page, state it and their `working_set`; "
      "`allocated` states another need (docs/memory.md)",
      device.name);
}

void refuse_unordered(const Scenario& scenario, const ClientChoice& client, Diagnostics& refusals) {
  const ContextSpec& context = client.context;
  if (context.access != Access::kSawtooth || context.working_set_bytes == 0) return;
  refusals.add(Error(ErrorKind::kInput, client.where,
                     fmt::format("client `{}` has `access: sawtooth`, and {} does not page in blocks", client.name,
                                 scenario.device.name),
                     "only blocks know the order of touches: state `device: { paging: blocks }`, or another `access` "
                     "(docs/memory.md)"),
               scenario.where);
}

}  // namespace

void refuse_unknown_paging(const Scenario& scenario, Diagnostics& refusals) {
  const DeviceSpec& device = scenario.device;
  if (scenario.cluster) return;
  if (device.paging != Paging::kBlocks)
    for (const ClientChoice& client : scenario.clients) refuse_unordered(scenario, client, refusals);
  if (device.paging != Paging::kBlocks || pages(device)) return;
  refusals.add(Error(ErrorKind::kInput, scenario.where,
                     fmt::format("{} pages in blocks, and what a fault costs is not stated", device.name),
                     "state its `fault_group` and `eviction`, as the device file p100 does (docs/memory.md)"),
               scenario.where);
}

std::uint64_t needed_bytes(const ClientSpec& client, const DeviceSpec& device) {
  const std::uint64_t stated = std::max(client.allocated_bytes, client.context.working_set_bytes);
  const GpuMemory& recorded = client.workload->memory;
  if (stated > 0 || recorded.source != MemorySource::kInUse) return stated > 0 ? stated : recorded.bytes;
  return recorded.bytes - std::min(recorded.bytes, device.context_bytes);
}

void refuse_overcommitted(const Scenario& scenario, const std::vector<ClientSpec>& clients, Diagnostics& refusals) {
  const DeviceSpec& device = scenario.device;
  if (scenario.cluster || device.memory_bytes == 0) return;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const Demand demand = demand_at(clients[i].arrival, clients, device);
    if (demand.bytes <= device.memory_bytes || demand.clients.empty()) continue;
    refusals.add(
        Error(ErrorKind::kInput, scenario.clients[i].where,
              fmt::format("clients {} and their {} context{} need {} of device memory at a time, and {} has {}",
                          fmt::join(demand.clients, ", "), demand.contexts, demand.contexts == 1 ? "" : "s",
                          format_size(demand.bytes), device.name, format_size(device.memory_bytes)),
              help_for(device)),
        scenario.where);
    return;
  }
}

}  // namespace corun
