#pragma once

#include <string>
#include <vector>

#include "experiments/advise/question.h"
#include "experiments/advise/ways.h"

namespace corun {

/// "mps", "kubernetes", "hami", "kai", "dra", "mig", "live".
const std::vector<std::string>& deploy_kinds();

/// What makes a way of sharing so: commands of a shell, what one of Kubernetes' ways of sharing reads
/// (deploy_kubernetes.h), or an experiment for `simcli live`. `kind` is one of deploy_kinds().
/// Throws Error(kInput) where that kind cannot share in this way.
std::string deployment(const std::string& kind, const AdviceQuestion& question, const SharingWay& way);

}  // namespace corun
