#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/bindings.h"
#include "sim/metrics/headlines.h"
#include "sim/metrics/metric_table.h"

namespace py = pybind11;

namespace corun {

namespace {

py::dict row_of(const MetricDescriptor& metric) {
  py::dict row;
  row["metric"] = metric.name;
  row["unit"] = metric.unit;
  row["of"] = to_string(metric.owner);
  row["better"] = to_string(metric.better);
  row["heading"] = metric.heading;
  row["meaning"] = metric.meaning;
  row["definition"] = metric.definition;
  row["counts_from_zero"] = metric.counts_from_zero;
  return row;
}

}  // namespace

void bind_metrics(py::module_& module) {
  module.def("metrics", [] {
    py::list rows;
    for (const MetricDescriptor& metric : metric_table()) rows.append(row_of(metric));
    return rows;
  });
  module.def("summary_metrics", [] {
    return std::vector<std::string_view>(std::begin(headlines::kSummary), std::end(headlines::kSummary));
  });
  module.def("is_better_small", &is_better_small, py::arg("metric"), py::arg("unit"));
  module.def("counts_from_zero", &counts_from_zero, py::arg("metric"));
}

}  // namespace corun
