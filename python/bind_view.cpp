#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

#include "python/bindings.h"
#include "python/policy_handles.h"

namespace py = pybind11;

namespace corun {

namespace {

/// A client as policies name it: as an object, by its number, by its name.
ClientId client_of(const ActionsRef& act, const py::handle& named) {
  if (py::isinstance<ClientRef>(named)) return named.cast<const ClientRef&>().id;
  if (py::isinstance<py::int_>(named)) return ClientId{named.cast<std::uint32_t>()};
  const auto name = named.cast<std::string>();
  for (const ClientView& client : act.callback->view->clients)
    if (client.name == name) return client.id;
  throw py::key_error(fmt::format("no client `{}`", name));
}

py::object optional_ns(Time time) { return time == kNever ? py::object(py::none()) : py::int_(to_ns(time)); }
py::object optional_ns(Duration duration) {
  return duration == kUnknownDuration ? py::object(py::none()) : py::int_(to_ns(duration));
}

template <class Value>
std::optional<Value> stated(Value value) {
  return value == Value{} ? std::nullopt : std::optional(value);
}

void bind_operation(py::module_& module) {
  py::class_<OpRef>(module, "Operation")
      .def_property_readonly("number", [](const OpRef& op) { return op.get().number; })
      .def_property_readonly("name", [](const OpRef& op) { return std::string(op.get().name); })
      .def_property_readonly("is_render", [](const OpRef& op) { return op.get().is_render; })
      .def_property_readonly("is_copy", [](const OpRef& op) { return op.get().is_copy; })
      .def_property_readonly("is_to_device", [](const OpRef& op) { return op.get().is_to_device; })
      .def_property_readonly("is_from_device", [](const OpRef& op) { return op.get().is_from_device; })
      .def_property_readonly("is_kernel", [](const OpRef& op) { return op.get().is_kernel(); })
      .def_property_readonly("blocks", [](const OpRef& op) { return stated(op.get().blocks); })
      .def_property_readonly("bytes", [](const OpRef& op) { return op.get().bytes; })
      .def_property_readonly("predicted_by_name_ns",
                             [](const OpRef& op) { return optional_ns(op.get().predicted_by_name); })
      .def_property_readonly("predicted_by_shape_ns",
                             [](const OpRef& op) { return optional_ns(op.get().predicted_by_shape); })
      .def_property_readonly("exact_ns", [](const OpRef& op) { return optional_ns(op.get().exact); })
      .def_property_readonly("position", [](const OpRef& op) { return op.get().position; })
      .def_property_readonly("sm_demand", [](const OpRef& op) { return op.get().sm_demand; })
      .def_property_readonly("submitted_ns", [](const OpRef& op) { return to_ns(op.get().submitted); });
}

void bind_frames(py::module_& module) {
  py::class_<FrameView>(module, "Frame")
      .def_readonly("number", &FrameView::number)
      .def_property_readonly("begin_ns", [](const FrameView& frame) { return optional_ns(frame.begin); })
      .def_property_readonly("end_ns", [](const FrameView& frame) { return optional_ns(frame.end); })
      .def_property_readonly("gpu_busy_ns", [](const FrameView& frame) { return to_ns(frame.gpu_busy); })
      .def_readonly("quality_level", &FrameView::quality_level)
      .def_readonly("scene", &FrameView::scene);
  py::class_<ShadowFrame>(module, "ShadowFrame")
      .def_readonly("number", &ShadowFrame::number)
      .def_readonly("quality_level", &ShadowFrame::quality_level)
      .def_readonly("scene", &ShadowFrame::scene)
      .def_property_readonly("gpu_busy_ns", [](const ShadowFrame& frame) { return to_ns(frame.gpu_busy); })
      .def_readonly("quality", &ShadowFrame::quality);
}

py::list menu_of(const ClientRef& client) {
  const py::object level = py::module_::import("corun.policy").attr("QualityLevel");
  py::list menu;
  for (const QualityLevel& row : client.get().quality_menu)
    menu.append(level(std::string(row.name), row.cost, row.quality,
                      py::tuple(py::cast(std::vector<std::uint8_t>(row.knobs.begin(), row.knobs.end())))));
  return menu;
}

void bind_client(py::module_& module) {
  py::class_<ClientRef> client(module, "Client");
  client.def_property_readonly("id", [](const ClientRef& self) { return self.id.value; })
      .def("__eq__", [](const ClientRef& self, const ClientRef& other) { return self.id == other.id; })
      .def("__hash__", [](const ClientRef& self) { return self.id.value; })
      .def("__repr__", [](const ClientRef& self) {
        return self.callback->view == nullptr ? fmt::format("<Client {}>", self.id.value)
                                              : fmt::format("<Client {} {}>", self.id.value, self.get().name);
      });
  const auto add = [&](const char* name, const auto& read) {
    client.def_property_readonly(name, [read](const ClientRef& self) { return read(self.get()); });
  };
  using C = const ClientView&;
  add("name", [](C c) { return std::string(c.name); });
  add("is_interactive", [](C c) { return c.role == Role::kInteractive; });
  add("priority", [](C c) { return c.priority; });
  add("is_present", [](C c) { return c.is_present; });
  add("gate_is_open", [](C c) { return c.gate_is_open; });
  add("waiting_count", [](C c) { return c.waiting.size(); });
  add("in_flight", [](C c) { return c.in_flight; });
  add("in_flight_predicted_ns", [](C c) { return to_ns(c.in_flight_predicted); });
  add("last_submitted_ns", [](C c) { return optional_ns(c.last_submitted); });
  add("device_time_ns", [](C c) { return to_ns(c.device_time); });
  add("frame", [](C c) { return c.frame; });
  add("frame_period_ns", [](C c) { return stated(to_ns(c.frame_period)); });
  add("quality_level", [](C c) { return c.quality_level; });
  add("awaits_shadow", [](C c) { return c.awaits_shadow; });
  add("requested_share", [](C c) { return stated(c.requested_share); });
  add("requested_bytes", [](C c) { return stated(c.requested_bytes); });
  add("working_set_bytes", [](C c) { return stated(c.working_set_bytes); });
  add("allocated_bytes", [](C c) { return stated(c.allocated_bytes); });
  add("resident_bytes", [](C c) { return c.resident_bytes; });
  add("paged_bytes", [](C c) { return c.paged_bytes; });
  add("snapshot_bytes", [](C c) { return c.snapshot_bytes; });
  add("last_snapshot_ns", [](C c) { return optional_ns(c.last_snapshot); });
  add("server_steps", [](C c) { return c.server.steps; });
  add("oldest_request_ns", [](C c) { return optional_ns(c.server.oldest_request); });
  add("is_copying", [](C c) { return c.is_copying; });
  client.def_property_readonly("quality_menu", &menu_of).def_property_readonly("waiting", [](const ClientRef& self) {
    py::list waiting;
    for (const OpView& op : self.get().waiting)
      waiting.append(py::cast(OpRef{self.callback, self.callback->number, &op}));
    return waiting;
  });
}

void bind_gpu_view(py::module_& module) {
  py::class_<DeviceView>(module, "Device")
      .def_readonly("sm_count", &DeviceView::sm_count)
      .def_readonly("max_threads_per_sm", &DeviceView::max_threads_per_sm)
      .def_readonly("max_blocks_per_sm", &DeviceView::max_blocks_per_sm)
      .def_property_readonly("memory_bytes", [](const DeviceView& self) { return stated(self.memory_bytes); })
      .def_readonly("context_bytes", &DeviceView::context_bytes)
      .def_property_readonly("to_device_bytes_per_s",
                             [](const DeviceView& self) { return stated(self.to_device_bytes_per_s); })
      .def_property_readonly("from_device_bytes_per_s",
                             [](const DeviceView& self) { return stated(self.from_device_bytes_per_s); })
      .def_property_readonly("time_slice_ns", [](const DeviceView& self) { return stated(to_ns(self.time_slice)); })
      .def_property_readonly("switch_cost_ns", [](const DeviceView& self) { return to_ns(self.switch_cost); })
      .def_property_readonly("busy_ns", [](const DeviceView& self) { return to_ns(self.busy); });
  py::class_<ViewRef>(module, "GpuView")
      .def_property_readonly("now_ns", [](const ViewRef& self) { return to_ns(self.get().now); })
      .def_property_readonly("device", [](const ViewRef& self) { return self.get().device; })
      .def_property_readonly("clients",
                             [](const ViewRef& self) {
                               py::list clients;
                               for (const ClientView& client : self.get().clients)
                                 clients.append(py::cast(ClientRef{self.callback, client.id}));
                               return clients;
                             })
      .def_property_readonly("changed",
                             [](const ViewRef& self) {
                               py::list clients;
                               for (const ClientId client : self.get().changed)
                                 clients.append(py::cast(ClientRef{self.callback, client}));
                               return clients;
                             })
      .def("client", [](const ViewRef& self, const std::string& name) {
        for (const ClientView& client : self.get().clients)
          if (client.name == name) return ClientRef{self.callback, client.id};
        throw py::key_error(fmt::format("no client `{}`", name));
      });
}

void bind_actions(py::module_& module) {
  py::class_<ActionsRef> act(module, "Actions");
  const auto add = [&](const char* name, void (Actions::*action)(ClientId)) {
    act.def(
        name, [action](const ActionsRef& self, const py::object& who) { (self.get().*action)(client_of(self, who)); },
        py::arg("client"));
  };
  const auto add_with = [&](const char* name, const char* argument, auto action) {
    act.def(name, action, py::arg("client"), py::arg(argument));
  };
  add("open", &Actions::open);
  add("close", &Actions::close);
  add("snapshot", &Actions::snapshot);
  add("kill", &Actions::kill);
  add("refuse", &Actions::refuse);
  add("prefetch", &Actions::prefetch);
  act.def(
      "admit",
      [](const ActionsRef& self, const py::object& who, std::uint32_t count) {
        self.get().admit(client_of(self, who), count);
      },
      py::arg("client"), py::arg("count") = 1);
  add_with("set_quality", "level", [](const ActionsRef& self, const py::object& who, std::uint32_t level) {
    self.get().set_quality(client_of(self, who), level);
  });
  add_with("shadow", "level", [](const ActionsRef& self, const py::object& who, std::uint32_t level) {
    self.get().shadow(client_of(self, who), level);
  });
  add_with("set_slice", "slice_ns", [](const ActionsRef& self, const py::object& who, std::int64_t slice) {
    self.get().set_slice(client_of(self, who), Duration{slice});
  });
  add_with("set_priority", "level", [](const ActionsRef& self, const py::object& who, std::int32_t level) {
    self.get().set_priority(client_of(self, who), level);
  });
  add_with("set_sm_cap", "fraction", [](const ActionsRef& self, const py::object& who, double fraction) {
    self.get().set_sm_cap(client_of(self, who), fraction);
  });
  add_with("set_sm_share", "fraction", [](const ActionsRef& self, const py::object& who, double fraction) {
    self.get().set_sm_share(client_of(self, who), fraction);
  });
  add_with("set_instance", "fraction", [](const ActionsRef& self, const py::object& who, double fraction) {
    self.get().set_instance(client_of(self, who), fraction);
  });
  act.def(
      "wake_at", [](const ActionsRef& self, std::int64_t when) { self.get().wake_at(time_from_ns(when)); },
      py::arg("when_ns"));
  act.def("keep_holds", [](const ActionsRef& self) { self.get().keep_holds(); });
  act.def(
      "hold",
      [](const ActionsRef& self, const py::object& who, const std::string& rule, double needed, double available,
         const std::string& unit) {
        self.get().hold(client_of(self, who), {self.names->keep(rule), needed, available, self.names->keep(unit)});
      },
      py::arg("client"), py::arg("rule"), py::arg("needed") = 0.0, py::arg("available") = 0.0, py::arg("unit") = "");
}

}  // namespace

void bind_view(py::module_& module) {
  bind_operation(module);
  bind_frames(module);
  bind_client(module);
  bind_gpu_view(module);
  bind_actions(module);
}

}  // namespace corun
