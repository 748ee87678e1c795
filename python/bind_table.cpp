#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/arrow.h"
#include "python/bindings.h"
#include "python/tables.h"
#include "sim/workload/program_steps.h"
#include "traces/reader.h"

namespace py = pybind11;

namespace corun {

namespace {

using SharedTable = std::shared_ptr<const Table>;

/// A column of a table, which it keeps alive.
struct ColumnOf {
  SharedTable table;
  std::size_t index = 0;

  const Column& get() const { return table->columns[index]; }
};

/// A column whose places all have a meaning: it offers its memory.
struct NumberColumnOf : ColumnOf {};

py::object value_at(const Column& column, std::size_t row) {
  if (column.is_missing(row)) return py::none();
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&column.values()))
    return py::int_((*integers)[row]);
  if (const auto* reals = std::get_if<std::vector<double>>(&column.values())) return py::float_((*reals)[row]);
  const Words& words = std::get<Words>(column.values());
  const std::string_view word = words.word(static_cast<std::size_t>(words.codes()[row]));
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), "replace"));
}

std::size_t checked_row(const Column& column, std::ptrdiff_t row) {
  const auto size = static_cast<std::ptrdiff_t>(column.size());
  if (row < -size || row >= size) throw py::index_error(fmt::format("row {} of {}", row, size));
  return static_cast<std::size_t>(row < 0 ? row + size : row);
}

py::buffer_info memory_of(const NumberColumnOf& self) {
  const auto size = static_cast<py::ssize_t>(self.get().size());
  const auto describe = [&](const auto& values) {
    using Value = std::remove_cvref_t<decltype(values[0])>;
    return py::buffer_info(const_cast<Value*>(values.data()), sizeof(Value), py::format_descriptor<Value>::format(), 1,
                           {size}, {static_cast<py::ssize_t>(sizeof(Value))}, true);
  };
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&self.get().values())) return describe(*integers);
  return describe(std::get<std::vector<double>>(self.get().values()));
}

py::object column_at(const SharedTable& table, std::size_t index) {
  const Column& column = table->columns[index];
  const bool is_integer = std::holds_alternative<std::vector<std::int64_t>>(column.values());
  const bool is_text = std::holds_alternative<Words>(column.values());
  if (is_text || (is_integer && column.missing() > 0)) return py::cast(ColumnOf{table, index});
  return py::cast(NumberColumnOf{{table, index}});
}

py::object column_named(const SharedTable& table, const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    if (table->columns[i].name() == name) return column_at(table, i);
    names += (names.empty() ? "" : ", ") + table->columns[i].name();
  }
  throw py::key_error(fmt::format("no column `{}`: there are {}", name, names));
}

/// A capsule as the Arrow PyCapsule interface asks for: it releases what was not taken.
template <class Structure>
py::capsule arrow_capsule(const char* name, std::unique_ptr<Structure> structure) {
  PyObject* capsule = PyCapsule_New(structure.get(), name, [](PyObject* object) {
    auto* held = static_cast<Structure*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) throw py::error_already_set();
  structure.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

template <class Source>
py::capsule schema_capsule(const Source& source) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(source, *schema);
  return arrow_capsule("arrow_schema", std::move(schema));
}

py::tuple column_capsules(const ColumnOf& self) {
  auto array = std::make_unique<ArrowArray>();
  export_column(self.table, self.index, *array);
  return py::make_tuple(schema_capsule(self.get()), arrow_capsule("arrow_array", std::move(array)));
}

py::tuple table_capsules(const SharedTable& self) {
  auto array = std::make_unique<ArrowArray>();
  export_array(self, *array);
  return py::make_tuple(schema_capsule(*self), arrow_capsule("arrow_array", std::move(array)));
}

py::capsule stream_capsule(const SharedTable& self) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(self, *stream);
  return arrow_capsule("arrow_array_stream", std::move(stream));
}

py::dict provenance(const Timeline& timeline) {
  const Provenance& from = timeline.provenance();
  py::list devices;
  for (const CapturedDevice& device : from.devices)
    devices.append(py::dict(py::arg("name") = device.name, py::arg("sm_count") = device.sm_count,
                            py::arg("memory_bytes") = device.memory_bytes));
  return py::dict(py::arg("format") = from.source_format, py::arg("version") = from.source_version,
                  py::arg("file") = from.source_file, py::arg("content_hash") = from.content_hash,
                  py::arg("clock") = from.clock, py::arg("origin_ns") = from.origin_ns, py::arg("devices") = devices,
                  py::arg("skipped") = from.skipped, py::arg("notes") = from.notes,
                  py::arg("programs") = from.programs);
}

py::dict program(const Timeline& timeline) {
  const ProgramSteps steps = [&] {
    const py::gil_scoped_release release;
    return program_steps(timeline);
  }();
  py::dict dict(py::arg("count") = steps.count, py::arg("certainty") = std::string(to_string(steps.finding.certainty)),
                py::arg("how") = steps.finding.how, py::arg("step_ns") = to_ns(steps.mean),
                py::arg("host_ns") = to_ns(steps.usual), py::arg("host_ns_p10") = to_ns(steps.short_one),
                py::arg("host_ns_p90") = to_ns(steps.long_one), py::arg("device_ns") = to_ns(steps.device_time),
                py::arg("operations") = steps.operations);
  dict["left_out_before"] = steps.finding.left_out_before;
  dict["left_out_after"] = steps.finding.left_out_after;
  dict["unfit"] = steps.unfit;
  dict["remedy"] = steps.remedy;
  dict["ranges"] = steps.ranges;
  return dict;
}

py::dict fidelity(const Timeline& timeline) {
  const Fidelity& of = timeline.fidelity();
  return py::dict(py::arg("has_durations") = of.has_durations, py::arg("has_calls") = of.has_calls,
                  py::arg("has_frames") = of.has_frames, py::arg("per_frame") = of.per_frame,
                  py::arg("integer_microseconds") = of.integer_microseconds, py::arg("has_times") = of.has_times,
                  py::arg("host_gaps_inflated") = of.host_gaps_inflated, py::arg("co_run") = of.co_run);
}

template <class Build>
auto built_without_the_lock(const Build& build) {
  const py::gil_scoped_release release;
  return std::const_pointer_cast<Table>(build());
}

void bind_columns(py::module_& module) {
  py::class_<ColumnOf>(module, "Column")
      .def("__repr__",
           [](const ColumnOf& self) {
             return fmt::format("<corun column {}: {} values, {} missing>", self.get().name(), self.get().size(),
                                self.get().missing());
           })
      .def_property_readonly("name", [](const ColumnOf& self) { return self.get().name(); })
      .def_property_readonly("missing", [](const ColumnOf& self) { return self.get().missing(); })
      .def_property_readonly("type",
                             [](const ColumnOf& self) {
                               constexpr const char* kNames[] = {"integer", "real", "text"};
                               return kNames[self.get().values().index()];
                             })
      .def("__len__", [](const ColumnOf& self) { return self.get().size(); })
      .def("__getitem__",
           [](const ColumnOf& self, std::ptrdiff_t row) { return value_at(self.get(), checked_row(self.get(), row)); })
      .def("to_list",
           [](const ColumnOf& self) {
             py::list values(self.get().size());
             for (std::size_t row = 0; row < self.get().size(); ++row) values[row] = value_at(self.get(), row);
             return values;
           })
      .def_property_readonly("codes",
                             [](const ColumnOf& self) -> py::object {
                               const auto* words = std::get_if<Words>(&self.get().values());
                               if (words == nullptr) return py::none();
                               py::list codes(words->codes().size());
                               for (std::size_t row = 0; row < words->codes().size(); ++row)
                                 codes[row] = self.get().is_missing(row) ? -1 : words->codes()[row];
                               return codes;
                             })
      .def_property_readonly("words",
                             [](const ColumnOf& self) -> py::object {
                               const auto* words = std::get_if<Words>(&self.get().values());
                               if (words == nullptr) return py::none();
                               py::list list;
                               for (std::size_t i = 0; i < words->count(); ++i) {
                                 const std::string_view word = words->word(i);
                                 list.append(py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
                                     word.data(), static_cast<Py_ssize_t>(word.size()), "replace")));
                               }
                               return list;
                             })
      .def("__arrow_c_schema__", [](const ColumnOf& self) { return schema_capsule(self.get()); })
      .def(
          "__arrow_c_array__", [](const ColumnOf& self, const py::object&) { return column_capsules(self); },
          py::arg("requested_schema") = py::none());
  py::class_<NumberColumnOf, ColumnOf>(module, "NumberColumn", py::buffer_protocol()).def_buffer(&memory_of);
}

}  // namespace

void bind_table(py::module_& module) {
  bind_columns(module);
  py::class_<Table, std::shared_ptr<Table>>(module, "Table")
      .def_property_readonly("columns",
                             [](const Table& self) {
                               std::vector<std::string> names;
                               for (const Column& column : self.columns) names.push_back(column.name());
                               return names;
                             })
      .def("__len__", [](const Table& self) { return self.rows(); })
      .def("__getitem__",
           [](const std::shared_ptr<Table>& self, const std::string& name) { return column_named(self, name); })
      .def("__arrow_c_schema__", [](const Table& self) { return schema_capsule(self); })
      .def(
          "__arrow_c_array__",
          [](const std::shared_ptr<Table>& self, const py::object&) { return table_capsules(self); },
          py::arg("requested_schema") = py::none())
      .def(
          "__arrow_c_stream__",
          [](const std::shared_ptr<Table>& self, const py::object&) { return stream_capsule(self); },
          py::arg("requested_schema") = py::none());
  module.def("query",
             [](const std::string& path, const std::string& query, const std::vector<std::string>& parameters) {
               return built_without_the_lock([&] { return query_table(path, query, parameters); });
             });
  py::class_<Timeline>(module, "Timeline")
      .def(py::init([](const std::string& path, const std::string& format) {
             const py::gil_scoped_release release;
             return load_timeline(path, format);
           }),
           py::arg("path"), py::arg("format") = "")
      .def("operations",
           [](const Timeline& self) { return built_without_the_lock([&] { return operations_table(self); }); })
      .def("calls", [](const Timeline& self) { return built_without_the_lock([&] { return calls_table(self); }); })
      .def("frames", [](const Timeline& self) { return built_without_the_lock([&] { return frames_table(self); }); })
      .def("draws", [](const Timeline& self) { return built_without_the_lock([&] { return draws_table(self); }); })
      .def("marks", [](const Timeline& self) { return built_without_the_lock([&] { return marks_table(self); }); })
      .def_property_readonly("provenance", &provenance)
      .def_property_readonly("fidelity", &fidelity)
      .def("steps", [](const Timeline& self) { return program(self); })
      .def_property_readonly("counts", [](const Timeline& self) {
        const TimelineSummary counts = summarize(self);
        return py::dict(py::arg("kernels") = counts.kernels, py::arg("memops") = counts.memops,
                        py::arg("frames") = counts.frames, py::arg("streams") = counts.streams,
                        py::arg("span_ns") = counts.span_ns, py::arg("busy_ns") = counts.busy_ns);
      });
}

}  // namespace corun
