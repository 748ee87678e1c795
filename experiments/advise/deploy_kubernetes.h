#pragma once

#include <string>

#include "experiments/advise/question.h"
#include "experiments/advise/ways.h"

namespace corun {

// What sets up a way of sharing on Kubernetes. Pods lack what only their owner knows: containers are to be filled in.
// Each throws as refuse_deployment() does where it cannot share in this way.

/// A configuration of the NVIDIA device plugin, version v1 of its format, which knows MPS since v0.15. Under MPS the
/// plugin gives each client an equal percentage of the SMs.
std::string for_device_plugin(const AdviceQuestion& question, const SharingWay& way);

/// Pods for HAMi (v2.4 or later): each has an equal part of the memory, and turns without a limit of its cores.
std::string for_hami(const AdviceQuestion& question, const SharingWay& way);

/// Pods for the KAI scheduler (v0.5 or later, with GPU sharing): each has an equal fraction; under MPS they find the
/// daemon of the node.
std::string for_kai(const AdviceQuestion& question, const SharingWay& way);

/// A claim that the pods share, for the NVIDIA DRA driver (resource.nvidia.com/v1beta1; Kubernetes 1.34): turns, MPS,
/// or MPS with equal percentages.
std::string for_dra(const AdviceQuestion& question, const SharingWay& way);

/// Throws Error(kInput): that kind cannot set up this way; `help` says what can.
[[noreturn]] void refuse_deployment(const std::string& kind, const SharingWay& way, const std::string& help);

}  // namespace corun
