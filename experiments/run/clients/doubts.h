#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/run/clients/client_builder.h"

namespace corun {

/// What is doubtful of a client's figures, a sentence each: a host of unknown speed; steps that were guessed; tails of
/// frame times that miss the capture's by more than 5 %; frames of a GPU whose clock may have been low; so few jobs
/// within the horizon that their number says little of a rate; more work than a device can do. Takes the runs of
/// misfits(), once.
std::vector<std::string> doubts(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder);

/// What the doubt about a low clock ends with, the one about a pacing beyond the device begins with, and the one about
/// a short horizon holds.
inline constexpr std::string_view kCaptureUncapped = "capture it uncapped", kPacedBeyond = "it is paced at",
                                  kTooFewJobs = "between warm-up and end, too few for a rate";

/// Keys of a client that decide nothing, given its work and its other keys, or all of them, where it never comes; a
/// sentence each.
std::vector<std::string> idle_keys(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder);

}  // namespace corun
