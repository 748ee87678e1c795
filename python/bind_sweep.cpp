#include <SQLiteCpp/SQLiteCpp.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "experiments/results/file.h"
#include "experiments/results/results.h"
#include "python/bindings.h"
#include "python/known_experiment.h"

namespace py = pybind11;

namespace corun {

namespace {

/// The runs of an experiment, done in any order by any number of threads that share its captures.
class PlannedRuns {
 public:
  PlannedRuns(const std::shared_ptr<KnownExperiment>& known, bool has_baselines) : known_(*known) {
    known_.experiment.record.baselines = has_baselines;
    located(known_, [&] {
      const py::gil_scoped_release release;
      plan_ = make_plan(known_.experiment);
      inputs_.emplace(known_.experiment, plan_.hashes, known_.policies);
      inputs_->check();
    });
  }

  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const RunSpec& spec : plan_.runs) ids.push_back(spec.id);
    return ids;
  }

  /// Into a results file of its own, without a plan.
  void run(const std::vector<std::string>& ids, const std::string& output) {
    located(known_, [&] {
      const py::gil_scoped_release release;
      ResultsWriter writer(output, IfExists::kReplace, StoredPlan{});
      for (const std::string& id : ids)
        writer.write(known_.experiment, plan_.hashes, spec(id),
                     run_one(known_.experiment, spec(id), *inputs_, known_.policies));
      writer.close();
    });
  }

  ResultsWriter writer(const std::string& output, IfExists if_exists) {
    return located(known_, [&] { return ResultsWriter(output, if_exists, stored_plan(known_.experiment, plan_)); });
  }

 private:
  const RunSpec& spec(const std::string& id) const {
    for (const RunSpec& spec : plan_.runs)
      if (spec.id == id) return spec;
    throw Error(ErrorKind::kInput, {known_.experiment.file}, "this process plans other runs than the one that asks",
                "both need the same version of corun, and the same captures at the same paths");
  }

  KnownExperiment known_;
  Plan plan_;
  std::optional<RunInputs> inputs_;
};

/// Puts the runs of a file behind those of the writer. Returns the errors of failed ones.
std::vector<std::string> append(ResultsWriter& writer, const std::string& path) {
  constexpr std::size_t kErrorColumn = 14;
  const py::gil_scoped_release release;
  std::vector<std::string> errors;
  const auto results = open_results(path);
  StoredRuns runs(*results);
  while (const auto run = runs.next()) {
    writer.write(*run);
    if (const auto* error = std::get_if<std::string>(&run->tables[0].at(0).at(kErrorColumn))) errors.push_back(*error);
  }
  return errors;
}

}  // namespace

void bind_sweep(py::module_& module) {
  module.def("results_hash", [](const std::string& path) {
    const py::gil_scoped_release release;
    return results_hash(path);
  });
  py::class_<ResultsWriter>(module, "ResultsWriter")
      .def("completed_runs",
           [](ResultsWriter& self) {
             std::vector<std::string> ids;
             for (const auto& [id, outcome] : self.completed_runs()) ids.push_back(id);
             return ids;
           })
      .def("append", &append, py::arg("path"))
      .def("close", &ResultsWriter::close);
  py::class_<PlannedRuns>(module, "PlannedRuns")
      .def(py::init<std::shared_ptr<KnownExperiment>, bool>(), py::arg("experiment"), py::arg("baselines"))
      .def("ids", &PlannedRuns::ids)
      .def("run", &PlannedRuns::run, py::arg("ids"), py::arg("output"))
      .def("writer", &PlannedRuns::writer, py::arg("output"), py::arg("if_exists"));
}

}  // namespace corun
