#pragma once

#include <string>
#include <vector>

#include "sim/executor/execute.h"
#include "sim/executor/worker/channel.h"
#include "sim/policy/action.h"

namespace corun::executor {

/// Whether a workload does nothing but render, in one stream: all that a context of OpenGL has.
bool only_renders(const Workload& workload);

/// Throws Error(kUnsupported) where the input asks for what no GPU reports.
void refuse_what_hardware_lacks(const RunInput& input);

/// Whether asking for this changes nothing: a setting that every context has anyway.
bool is_default(const Action& action);

/// Throws Error(kUnsupported): no driver lets a run set this. The reason is in the message.
[[noreturn]] void refuse_setting(const RunInput& input, const Action& action);

/// What differs from the simulation of the same input before anything runs, a sentence each. `mps`: as the workers
/// found it.
std::vector<std::string> differences(const RunInput& input, const ExecuteOptions& options, MpsState mps);

}  // namespace corun::executor
