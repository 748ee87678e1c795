#include <pybind11/pybind11.h>

#include "python/bindings.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of the package corun: use the package's own names.";
  corun::bind_table(module);
  corun::bind_statistics(module);
  corun::bind_metrics(module);
  corun::bind_view(module);
  corun::bind_experiment(module);
  corun::bind_sweep(module);
  corun::bind_advise(module);
  corun::bind_report(module);
}
