#include "sim/policy/descriptor.h"

namespace {

corun::PolicyDescriptor describe() {
  corun::PolicyDescriptor descriptor;
  descriptor.name = "stranger";
  return descriptor;
}

}  // namespace

/// A plug-in of another time: STRANGER_ABI is the version it says it was built for.
extern "C" const corun::PolicyPlugin* corun_policy_plugin() {
  static const corun::PolicyPlugin plugin{sizeof(corun::PolicyPlugin), STRANGER_ABI, &describe};
  return &plugin;
}
