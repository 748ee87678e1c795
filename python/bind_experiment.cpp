#include <dlfcn.h>
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "experiments/base/error_text.h"
#include "experiments/base/processors.h"
#include "experiments/results/results.h"
#include "experiments/run/execution_backend.h"
#include "experiments/run/ranges.h"
#include "experiments/run/results_revision.h"
#include "experiments/run/run_inputs.h"
#include "policies/builtin.h"
#include "python/bindings.h"
#include "python/known_experiment.h"
#include "python/python_policy.h"
#include "traces/base/units.h"

namespace py = pybind11;

namespace corun {

void raise(const Error& error, const std::string& file, const std::string& text) {
  std::vector<Diagnostic> diagnostics = diagnostics_of(error);
  Diagnostics lines;
  lines.add_source(file, text);
  py::list list;
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.source_line.empty()) diagnostic.source_line = lines.line_of(diagnostic.where);
    list.append(py::dict(py::arg("code") = diagnostic.code, py::arg("file") = diagnostic.where.file,
                         py::arg("line") = diagnostic.where.line, py::arg("column") = diagnostic.where.column,
                         py::arg("message") = diagnostic.message, py::arg("label") = diagnostic.label,
                         py::arg("notes") = diagnostic.notes, py::arg("help") = diagnostic.help));
  }
  const std::string rendered = render(error, diagnostics, DiagnosticStyle::kFull, false);
  const py::object exception =
      py::module_::import("corun.errors").attr("from_core")(static_cast<int>(error.kind()), rendered, list);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

namespace {

Duration duration_of(const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration)
    throw Error(ErrorKind::kInput, {}, fmt::format("`{}` is no duration", text), "a number and its unit: 300us, 2s");
  return *duration;
}

ExperimentOverrides overrides_of(const std::vector<std::string>& sets, const std::vector<std::uint64_t>& seeds,
                                 const std::optional<std::string>& until) {
  ExperimentOverrides overrides;
  overrides.sets = sets;
  overrides.seeds = seeds;
  if (until) overrides.until = duration_of(*until);
  return overrides;
}

/// Policies in shared libraries use the functions of the project that this library holds: a program that loads one
/// after this finds them. The interpreter loads extensions for themselves alone.
void show_functions_to_plugins() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&show_functions_to_plugins), &self) != 0)
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/// What runs under a policy written in Python depends on its code.
void state_code(KnownExperiment& known, const std::map<std::string, std::string>& code) {
  const auto state = [&](PolicyChoice& choice) {
    if (const auto found = code.find(choice.policy); found != code.end()) choice.parameters.set("code", found->second);
  };
  for (Scenario& scenario : known.experiment.scenarios) {
    for (PolicyChoice& policy : scenario.policies) state(policy);
    if (scenario.cluster && scenario.cluster->sharing) state(*scenario.cluster->sharing);
  }
}

std::shared_ptr<KnownExperiment> read(const std::string& text, const std::string& file,
                                      const std::vector<std::string>& sets, const py::list& policies,
                                      const std::vector<std::uint64_t>& seeds, const std::optional<std::string>& until,
                                      bool expands_sweep) {
  auto known = std::make_shared<KnownExperiment>();
  known->text = text;
  known->experiment.file = file;
  const auto names_plugin = [](const std::string& written) { return written.find("plugin") != std::string::npos; };
  if (names_plugin(text) || std::ranges::any_of(sets, names_plugin)) show_functions_to_plugins();
  located(*known, [&] {
    known->policies = builtin_policies();
    std::map<std::string, std::string> code;
    for (const py::handle& policy : policies) {
      PolicyDescriptor descriptor = describe_python_policy(policy);
      code[descriptor.name] = code_hash(policy);
      known->policies.add(std::move(descriptor));
    }
    ExperimentOverrides overrides = overrides_of(sets, seeds, until);
    overrides.expands_sweep = expands_sweep;
    known->experiment = parse_experiment(text, file, overrides, known->policies);
    for (Scenario& scenario : known->experiment.scenarios) put_in(simulation_backend(), scenario);
    known->experiment = with_host_ranges(std::move(known->experiment));
    state_code(*known, code);
  });
  return known;
}

void check(const KnownExperiment& known) {
  located(known, [&] {
    const py::gil_scoped_release release;
    const Plan plan = make_plan(known.experiment);
    RunInputs run_inputs(known.experiment, plan.hashes, known.policies);
    run_inputs.check();
  });
}

py::list plan(const KnownExperiment& known) {
  const Plan plan = located(known, [&] { return make_plan(known.experiment); });
  py::list rows;
  for (const RunSpec& spec : plan.runs) {
    const Scenario& scenario = known.experiment.scenarios[spec.scenario];
    const PolicyChoice& policy = scenario.policies[spec.policy];
    py::dict parameters;
    for (const auto& [name, value] : policy.parameters.values()) parameters[py::str(name)] = format_parameter(value);
    rows.append(py::dict(py::arg("id") = spec.id, py::arg("scenario") = scenario.name, py::arg("policy") = policy.label,
                         py::arg("parameters") = parameters, py::arg("seed") = spec.seed,
                         py::arg("device") = scenario.device.name, py::arg("horizon_ns") = to_ns(scenario.horizon),
                         py::arg("warmup_ns") = to_ns(scenario.warmup_or_default())));
  }
  return rows;
}

/// Runs a plan on threads of its own, while the calling thread answers the interpreter.
class PlanRun {
 public:
  PlanRun(const KnownExperiment& known, const Plan& plan, RunInputs& run_inputs, ResultsWriter& results, unsigned jobs)
      : thread_([this, &known, &plan, &run_inputs, &results, jobs] {
          try {
            const RunnerOptions options{jobs, &stop_, [this](const RunSpec&, const RunOutcome&) { ++finished_; }};
            run_plan(known.experiment, plan, run_inputs, known.policies, options,
                     [&](const RunSpec& spec, const RunOutcome& outcome) {
                       results.write(known.experiment, plan.hashes, spec, outcome);
                       if (outcome.error) errors_.push_back(*outcome.error);
                     });
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          is_over_ = true;
          over_.notify_all();
        }) {}

  /// Until it is over. Called with the interpreter lock held; what Python raises meanwhile ends the runner, which drops
  /// the runs that are under way, and is raised then.
  void wait(const py::object& tick) {
    std::optional<py::error_already_set> raised;
    for (bool is_over = false; !is_over;) {
      {
        const py::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        is_over = over_.wait_for(lock, std::chrono::milliseconds(50), [&] { return is_over_; });
      }
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (!raised) tick(finished_.load());
      } catch (py::error_already_set& error) {
        if (!raised) raised.emplace(std::move(error));
        stop_ = true;
      }
    }
    if (raised) throw std::move(*raised);
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  const std::vector<Error>& errors() const { return errors_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> finished_{0};
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::vector<Error> errors_;
  std::jthread thread_;  // last: it uses all the others
};

/// Does the runs, asks `tick` with the number of finished ones every now and then. Returns the messages of failed runs
/// by kind of error. What `tick` or a signal raises is raised when the results that there are have been written.
py::list run(const KnownExperiment& known, const std::string& output, IfExists if_exists, unsigned jobs,
             bool has_baselines, const py::object& tick) {
  KnownExperiment input = known;
  input.experiment.record.baselines = has_baselines;
  py::list failures;
  located(known, [&] {
    std::optional<Plan> plan;
    std::optional<RunInputs> run_inputs;
    std::optional<ResultsWriter> results;
    {
      const py::gil_scoped_release release;
      plan = make_plan(input.experiment);
      check_output(output, if_exists);
      run_inputs.emplace(input.experiment, plan->hashes, input.policies);
      run_inputs->check();
      results.emplace(output, if_exists, stored_plan(input.experiment, *plan));
      const std::map<std::string, RunOutcome> completed = results->completed_runs();
      std::erase_if(plan->runs, [&](const RunSpec& spec) { return completed.contains(spec.id); });
    }
    PlanRun plan_run(input, *plan, *run_inputs, *results, jobs == 0 ? usable_processors() : jobs);
    try {
      plan_run.wait(tick);
    } catch (...) {
      results->close();
      throw;
    }
    plan_run.rethrow();
    results->close();
    for (const Error& error : plan_run.errors())
      failures.append(py::make_tuple(static_cast<int>(error.kind()), error.what()));
  });
  return failures;
}

}  // namespace

void bind_experiment(py::module_& module) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& error) {
      try {
        raise(error, "", "");
      } catch (py::error_already_set& raised) {
        raised.restore();
      }
    }
  });
  py::enum_<IfExists>(module, "IfExists")
      .value("fail", IfExists::kFail)
      .value("replace", IfExists::kReplace)
      .value("resume", IfExists::kResume);
  module.def("read", &read, py::arg("text"), py::arg("file"), py::arg("sets"), py::arg("policies"), py::arg("seeds"),
             py::arg("until"), py::arg("expands_sweep") = false);
  module.def("duration_ns", [](const std::string& text) { return to_ns(duration_of(text)); });
  module.attr("engine_version") = std::string(engine_version());
  module.attr("results_revision") = kResultsRevision;
  py::class_<KnownExperiment, std::shared_ptr<KnownExperiment>>(module, "Experiment")
      .def_property_readonly("name", [](const KnownExperiment& self) { return self.experiment.name; })
      .def_property_readonly("description", [](const KnownExperiment& self) { return self.experiment.description; })
      .def_property_readonly("output", [](const KnownExperiment& self) { return self.experiment.output; })
      .def_property_readonly("scenarios",
                             [](const KnownExperiment& self) {
                               std::vector<std::string> names;
                               for (const Scenario& scenario : self.experiment.scenarios)
                                 names.push_back(scenario.name);
                               return names;
                             })
      .def_property_readonly("points",
                             [](const KnownExperiment& self) {
                               py::list points;
                               for (const std::vector<PointValue>& point : self.experiment.points) {
                                 py::dict values;
                                 for (const PointValue& value : point) values[py::str(value.parameter)] = value.text;
                                 points.append(values);
                               }
                               return points;
                             })
      .def("check", &check)
      .def("plan", &plan)
      .def("run", &run, py::arg("output"), py::arg("if_exists"), py::arg("jobs"), py::arg("baselines"),
           py::arg("tick"));
}

}  // namespace corun
