#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/asked/asked_program.h"
#include "experiments/advise/figures/simulated_means.h"
#include "experiments/bands/host_in_company.h"

namespace corun {

/// The same programs with hosts of kSlowerHost; nullopt: none has one that may be slower. It may where the rate alone
/// is known, it waits_for_device(), and neither the program's keys nor frames say how its host goes on. `simulated`:
/// these programs in the driver's turns or under MPS, with hosts as alone; a program that is not there keeps its host.
std::optional<std::vector<AskedProgram>> with_slower_hosts(const std::vector<AskedProgram>& programs,
                                                           const SimulatedRuns& simulated);

/// Adds what slower hosts give to a way's bounds: rates alone stay those of hosts as alone.
void add_bound(SimulatedBounds& simulated, const SimulatedBounds& slower);

/// Simulates each of `simulated`, which are ways of sharing by these programs, with_slower_hosts() where there are
/// such, and adds what that gives; returns whether there were any. What has the same programs then and one `group_of`
/// (nullopt: not to be looked at) is simulated at once, since each simulation reads all captures: `simulate` is given
/// these programs and places in `simulated`, and returns as many.
bool add_slower_hosts(const std::vector<AskedProgram>& programs, std::vector<SimulatedBounds>& simulated,
                      const std::function<std::optional<std::string>(std::size_t place)>& group_of,
                      const std::function<std::vector<SimulatedBounds>(
                          const std::vector<AskedProgram>& slower, const std::vector<std::size_t>& places)>& simulate);

}  // namespace corun
