#pragma once

#include <string>
#include <vector>

#include "experiments/run/clients/client_builder.h"

namespace corun {

/// What is wrong with the replay of a client alone.
struct Misfit {
  Doubt doubt;  ///< lets it pass where the client accepts it: kSoloRate, kSpan
  std::string what;
  std::string help;
};

/// Replays a captured client alone, on the scenario's device, and compares it with what is known of the program. It is
/// wrong where its rate misses the stated or untraced one by more than 2 %, or needs shorter device times than recorded
/// (SoloFit::possible_per_s); and where one pass, paced as captured, misses the capture's span by more than 5 %, or its
/// mean frame rate by more than 2 %. Nothing is wrong with work that has no capture. Takes the runs of a fit, once.
std::vector<Misfit> misfits(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder);

/// "accepted (span): its capture spans ...": what is wrong, and accepted, a sentence each.
std::vector<std::string> accepted_misfits(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder);

}  // namespace corun
