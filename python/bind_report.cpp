#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "experiments/report/contents.h"
#include "experiments/report/palette.h"
#include "experiments/report/report.h"
#include "python/bindings.h"

namespace py = pybind11;

namespace corun {

namespace {

std::string page(const std::string& path, const std::string& baseline, const std::string& command) {
  const py::gil_scoped_release release;
  return make_report({path}, {baseline, command});
}

/// What the page shows, as JSON.
std::string contents(const std::string& path, const std::string& baseline) {
  const py::gil_scoped_release release;
  return report::contents({path}, {baseline, ""});
}

std::vector<std::string> light_colours() {
  std::vector<std::string> found;
  for (const Colour& colour : colours()) found.emplace_back(colour.light);
  return found;
}

}  // namespace

void bind_report(py::module_& module) {
  module.def("report", &page, py::arg("path"), py::arg("baseline"), py::arg("command"));
  module.def("report_contents", &contents, py::arg("path"), py::arg("baseline"));
  module.def("colours", &light_colours);
  module.def("client_looks", [] { return std::vector<std::size_t>(client_looks().begin(), client_looks().end()); });
  module.def("looks", &looks, py::arg("names"));
}

}  // namespace corun
