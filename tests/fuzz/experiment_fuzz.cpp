#include "experiments/question/experiment.h"
#include "experiments/run/plan.h"
#include "policies/builtin.h"
#include "tests/fuzz/harness.h"

namespace corun::fuzz {
namespace {

/// The text of an experiment: complained about, located, or planned. Whatever it names, no plug-in is loaded.
void plan(std::string_view bytes) {
  static const PolicyRegistry builtin = [] {
    PolicyRegistry registry;
    add_builtin_policies(registry);
    return registry;
  }();
  if (bytes.find("plugin") != std::string_view::npos) return;
  PolicyRegistry policies = builtin;
  accepts([&] {
    try {
      const Experiment experiment = parse_experiment(std::string(bytes), "input.yaml", {}, policies);
      promise(!experiment.scenarios.empty(), "an experiment has a scenario");
    } catch (const InvalidInput& invalid) {
      promise(!invalid.diagnostics().empty(), "a refusal says what is wrong");
      throw;
    }
  });
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::plan(corun::fuzz::text_of(data, size));
  return 0;
}
