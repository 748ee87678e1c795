#pragma once

namespace pybind11 {
class module_;
}

namespace corun {

/// The parts of the module `corun._core`, each in the file of its name. pybind11 stays in those files.
void bind_table(pybind11::module_& module);
void bind_metrics(pybind11::module_& module);
void bind_statistics(pybind11::module_& module);
void bind_view(pybind11::module_& module);
void bind_experiment(pybind11::module_& module);
void bind_advise(pybind11::module_& module);
void bind_sweep(pybind11::module_& module);
void bind_report(pybind11::module_& module);

}  // namespace corun
