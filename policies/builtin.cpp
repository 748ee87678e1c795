#include "policies/builtin.h"

namespace corun {

void add_builtin_policies(PolicyRegistry& registry) {
  registry.add(passthrough_policy());
  registry.add(exclusive_policy());
  registry.add(pilotfish_policy());
  registry.add(djay_policy());
  registry.add(nvshare_policy());
  registry.add(gaiagpu_policy());
}

}  // namespace corun
