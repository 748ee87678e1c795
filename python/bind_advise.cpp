#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "experiments/advise/advice.h"
#include "experiments/advise/advice_json.h"
#include "experiments/advise/asked.h"
#include "experiments/base/processors.h"
#include "policies/builtin.h"
#include "python/bindings.h"
#include "python/known_experiment.h"

namespace py = pybind11;

namespace corun {

namespace {

/// The advice as JSON.
std::string advise_in_words(const AdviceWords& words) {
  try {
    const py::gil_scoped_release released;
    const AdviceQuestion question = question_of(words);
    const auto jobs = static_cast<unsigned>(usable_processors());
    return advice_json(question, advise(question, builtin_policies(), Bands::built_in(), jobs));
  } catch (const Error& error) {
    raise(error, "", "");
  }
}

}  // namespace

void bind_advise(py::module_& module) {
  using Words = std::vector<std::string>;
  module.def("advise",
             [](const Words& traces, const Words& rates, const Words& keys, const Words& kept, const Words& p99,
                const Words& fps, const Words& modes, const std::string& gpu, bool is_for_most_work) {
               return advise_in_words({traces, rates, keys, kept, p99, fps, modes, gpu, is_for_most_work});
             });
}

}  // namespace corun
