#include <SQLiteCpp/SQLiteCpp.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "experiments/results/file.h"
#include "experiments/statistics/steady_state.h"
#include "experiments/summary/compare.h"
#include "experiments/summary/compare_settling.h"
#include "python/bindings.h"
#include "traces/base/error.h"

namespace py = pybind11;

namespace corun {

namespace {

using Values = std::vector<double>;

/// mean, low, high; nothing for an interval that so few values do not have.
py::tuple interval(const Estimate& found) {
  if (!has_interval(found)) return py::make_tuple(found.mean, py::none(), py::none());
  return py::make_tuple(found.mean, found.low, found.high);
}

void check_pairs(const Values& values, const Values& baseline) {
  if (values.empty() || values.size() != baseline.size())
    throw_input({}, "{} values and {} of the baseline: pairs need as many of both, one at least", values.size(),
                baseline.size());
}

py::tuple paired(const Values& values, const Values& baseline, bool is_ratio) {
  check_pairs(values, baseline);
  return interval(paired_interval(values, baseline, is_ratio ? Effect::kRatio : Effect::kDifference));
}

py::tuple bootstrap(const Values& values, const Values& baseline, bool is_ratio, std::size_t resamples,
                    std::uint64_t seed, bool is_expanded, const std::optional<std::vector<std::uint32_t>>& indices) {
  check_pairs(values, baseline);
  const auto drawn = indices ? *indices : draw_resamples(resamples, values.size(), seed);
  for (const std::uint32_t index : drawn)
    if (index >= values.size()) throw_input({}, "index {} of {} pairs", index, values.size());
  return interval(
      paired_bootstrap(values, baseline, is_ratio ? Effect::kRatio : Effect::kDifference, drawn, is_expanded));
}

py::tuple ends(const std::optional<FigureBand>& band) {
  if (!band) return py::make_tuple(py::none(), py::none());
  return py::make_tuple(band->low, band->high);
}

/// The numbers of corun.compare, a row each: point (None where there is none), scenario, policy, client, metric, unit,
/// means of baseline and values, difference, ratio, pairs, their bands.
std::vector<py::tuple> compared(const std::string& path, const std::string& baseline,
                                const std::vector<std::string>& metrics, const std::string& backend) {
  const Comparisons found = [&] {
    const py::gil_scoped_release release;
    return compare({path}, {baseline, metrics, backend, false});
  }();
  std::vector<py::tuple> rows;
  for (const Comparison& row : found.rows)
    rows.push_back(py::make_tuple(row.point, row.scenario, row.policy, row.client, row.metric, row.unit,
                                  row.baseline.mean, row.value.mean, interval(row.difference), interval(row.ratio),
                                  row.pairs(), ends(row.baseline_band), ends(row.value_band)));
  return rows;
}

/// What the runs of a backend measured, a row each: point (None where there is none), scenario, policy, client, metric,
/// unit, {seed: value}, low and high of the band (None where there is none).
std::vector<py::tuple> samples(const std::string& path, const std::string& backend) {
  const ResultSamples found = [&] {
    const py::gil_scoped_release release;
    return read_samples({path}, backend, false);
  }();
  std::vector<py::tuple> rows;
  for (const Sample& sample : found.samples) {
    const PolicyRuns& runs = found.groups[sample.group];
    py::dict values;
    for (const auto& [seed, value] : sample.values) values[py::int_(seed)] = value;
    const py::tuple band = ends(found.band(sample));
    rows.push_back(py::make_tuple(runs.point, runs.scenario, runs.policy, sample.client, sample.metric, sample.unit,
                                  values, band[0], band[1]));
  }
  return rows;
}

}  // namespace

void bind_statistics(py::module_& module) {
  module.def("student_t_95", [](unsigned degrees) {
    if (degrees < 1) throw_input({}, "Student's t has 1 degree of freedom at least");
    return student_t_95(degrees);
  });
  module.def("mean_interval", [](const Values& values) -> py::tuple {
    if (values.empty()) throw_input({}, "an empty sample has no mean");
    return interval(figure_estimate(values));
  });
  module.def("paired_interval", &paired, py::arg("values"), py::arg("baseline"), py::arg("is_ratio"));
  module.def("paired_bootstrap", &bootstrap, py::arg("values"), py::arg("baseline"), py::arg("is_ratio"),
             py::arg("resamples"), py::arg("seed"), py::arg("is_expanded"), py::arg("indices"));
  module.def("compare", &compared, py::arg("path"), py::arg("baseline"), py::arg("metrics"), py::arg("backend"));
  module.def("samples", &samples, py::arg("path"), py::arg("backend"));
  module.def("check_results", [](const std::string& path) { open_results(path); });
  module.def("horizon_warnings", [](const std::string& path) {
    const py::gil_scoped_release release;
    std::vector<std::string> warnings;
    reading(path, [&] { warnings = horizon_warnings(*open_results(path)); });
    return warnings;
  });
  module.def("mser5", [](const Values& series) {
    const WarmupCut cut = mser5(series);
    return py::make_tuple(cut.count, cut.is_settled);
  });
  module.def("batch_means", [](const Values& series, std::size_t batches) {
    if (batches < 2 || series.size() < batches)
      throw_input({}, "{} batches of {} values: there must be two batches at least, and a value in each", batches,
                  series.size());
    const Estimate found = batch_means(series, batches);  // as many as were asked for
    return py::make_tuple(found.mean, found.low, found.high);
  });
  module.def("lag1_correlation", [](const Values& series) { return lag1_correlation(series); });
}

}  // namespace corun
