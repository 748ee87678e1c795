#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "experiments/advise/advice.h"
#include "experiments/advise/advice_json.h"
#include "experiments/advise/asked.h"
#include "experiments/base/processors.h"
#include "experiments/fit/fit.h"
#include "experiments/fit/fit_json.h"
#include "policies/builtin.h"
#include "python/bindings.h"
#include "python/known_experiment.h"

namespace py = pybind11;

namespace corun {

namespace {

template <class Answer>
std::string answered(Answer answer) {
  try {
    const py::gil_scoped_release released;
    return answer(static_cast<unsigned>(usable_processors()));
  } catch (const Error& error) {
    raise(error, "", "");
  }
}

/// The advice as JSON.
std::string advise_in_words(const AdviceWords& words) {
  return answered([&](unsigned jobs) {
    const AdviceQuestion question = question_of(words, builtin_policies());
    return advice_json(question, advise(question, builtin_policies(), Bands::built_in(), jobs));
  });
}

/// The answer as JSON.
std::string fit_in_words(const FitWords& words) {
  return answered([&](unsigned jobs) {
    const FitQuestion question = question_of(words, builtin_policies());
    return fit_json(question, fit(question, builtin_policies(), jobs));
  });
}

}  // namespace

void bind_advise(py::module_& module) {
  using Words = std::vector<std::string>;
  module.def("advise", [](const Words& traces, const Words& rates, const Words& keys, const Words& kept,
                          const Words& p99, const Words& fps, const Words& modes, const Words& policies,
                          const std::string& gpu, bool is_for_most_work, bool has_largest_load) {
    return advise_in_words(
        {traces, rates, keys, kept, p99, fps, modes, policies, gpu, is_for_most_work, has_largest_load});
  });
  module.def("fit", [](const std::string& game, const Words& fillers, const Words& rates, const Words& keys,
                       const Words& policies, const std::string& fps, const std::string& p99, const std::string& low,
                       const std::string& missed, const std::string& quality, const std::string& most,
                       const std::string& gpu) {
    return fit_in_words({game, fillers, rates, keys, policies, fps, p99, low, missed, quality, most, gpu});
  });
}

}  // namespace corun
