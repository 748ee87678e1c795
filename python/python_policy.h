#pragma once

#include <memory>
#include <string>

#include "sim/policy/descriptor.h"

namespace pybind11 {
class handle;
}

namespace corun {

/// The descriptor of a subclass of `corun.Policy`, from what python/corun/policy.py reads from it. Its policies may be
/// made, asked and destroyed by any thread; each takes the interpreter lock for as long as Python runs. A Python
/// exception in one is Error(kPolicy) with simulated time and traceback.
PolicyDescriptor describe_python_policy(pybind11::handle policy_class);

/// Hash of the code of a class, as far as it can be seen: part of the parameters, and so of the ids of its runs.
std::string code_hash(pybind11::handle policy_class);

}  // namespace corun
