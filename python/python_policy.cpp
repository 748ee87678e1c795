#include "python/python_policy.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <mutex>
#include <optional>
#include <set>

#include "experiments/base/hash.h"
#include "python/policy_handles.h"
#include "traces/base/units.h"

namespace py = pybind11;

namespace corun {

namespace {

/// What a subclass of corun.Policy is to C++. Owned by the functions of its descriptor, which any thread may copy and
/// destroy.
class PolicyClass {
 public:
  explicit PolicyClass(py::object type) : type_(std::move(type)) {}
  ~PolicyClass() {
    const py::gil_scoped_acquire lock;
    type_ = py::object();
  }
  PolicyClass(const PolicyClass&) = delete;
  PolicyClass& operator=(const PolicyClass&) = delete;

  const py::object& type() const { return type_; }
  const std::shared_ptr<RuleNames>& names() const { return names_; }

 private:
  py::object type_;
  std::shared_ptr<RuleNames> names_ = std::make_shared<RuleNames>();
};

py::object to_python(const ParameterValue& value) {
  if (const auto* duration = std::get_if<Duration>(&value)) return py::int_(to_ns(*duration));
  if (const auto* real = std::get_if<double>(&value)) return py::float_(*real);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return py::int_(*integer);
  if (const auto* boolean = std::get_if<bool>(&value)) return py::bool_(*boolean);
  if (const auto* choice = std::get_if<std::string>(&value)) return py::str(*choice);
  return py::cast(std::map<std::string, double>(std::get<ByClient>(value).begin(), std::get<ByClient>(value).end()));
}

std::string traceback_of(const py::error_already_set& error) {
  const py::object lines =
      py::module_::import("traceback").attr("format_exception")(error.type(), error.value(), error.trace());
  std::string text;
  for (const py::handle& line : lines) text += line.cast<std::string>();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Keeps the interpreter's record of this thread, so that taking the lock does not make one each time. Does not hold
/// the lock: it begins without it, and ends in the thread that it began in, as the policies of a run do.
struct KeptThread {
  py::gil_scoped_acquire record;
  py::gil_scoped_release lock;
};

/// A policy whose rules are Python's. Takes the interpreter lock for every call.
class PythonPolicy final : public Policy {
 public:
  PythonPolicy(std::shared_ptr<PolicyClass> type, std::string name, const Parameters& parameters)
      : class_(std::move(type)), name_(std::move(name)) {
    const py::gil_scoped_acquire lock;
    try {
      py::dict values;
      for (const auto& [key, value] : parameters.values()) values[py::str(key)] = to_python(value);
      own_ = std::make_unique<Objects>();
      own_->self = class_->type().attr("_create")(values);
      own_->view = py::cast(ViewRef{callback_});
      own_->act = py::cast(ActionsRef{callback_, class_->names()});
      own_->decide = own_->self.attr("decide");
      hears_ = read_hears();
    } catch (const py::error_already_set& error) {
      const std::string text = traceback_of(error);
      own_.reset();
      throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' could not be made: {}", name_, text));
    } catch (...) {
      own_.reset();  // while the lock is held
      throw;
    }
  }
  ~PythonPolicy() override {
    const py::gil_scoped_acquire lock;
    own_.reset();
  }

  Hears hears() const override { return hears_; }

  void on_joined(const GpuView& view, ClientId client) override { hear(view, kJoined, client); }
  void on_left(const GpuView& view, ClientId client) override { hear(view, kLeft, client); }
  void on_submitted(const GpuView& view, ClientId client, const OpView& op) override {
    hear(view, kSubmitted, client, op);
  }
  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    hear(view, kLaunched, client, op);
  }
  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration device_time) override {
    hear(view, kCompleted, client, op, to_ns(device_time));
  }
  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    hear(view, kFrame, client, event == FrameEvent::kBegin ? "begin" : "end");
  }
  void on_resized(const GpuView& view, ClientId client) override { hear(view, kResized, client); }
  void on_shadow(const GpuView& view, ClientId client, const ShadowFrame& shadow) override {
    hear(view, kShadow, client, shadow);
  }
  void on_copied(const GpuView& view, ClientId client, CopyEvent event) override {
    hear(view, kCopied, client, event == CopyEvent::kSnapshot ? "snapshot" : "restored");
  }

  void decide(const GpuView& view, Actions& actions) override {
    ask(view, &actions, [&] { own_->decide(own_->view, own_->act); });
  }

 private:
  enum Event : std::uint8_t { kJoined, kLeft, kSubmitted, kLaunched, kCompleted, kFrame, kResized, kShadow, kCopied };
  static constexpr std::array<const char*, 9> kMethods = {"on_joined",   "on_left",      "on_submitted",
                                                          "on_launched", "on_completed", "on_frame",
                                                          "on_resized",  "on_shadow",    "on_copied"};
  /// Everything of Python's, so that it can go while the lock is held.
  struct Objects {
    py::object self, view, act, decide;
    std::array<py::object, kMethods.size()> methods;  ///< null where the class does not override it
    std::vector<py::object> clients;
  };

  Hears read_hears() {
    const py::object base = py::module_::import("corun.policy").attr("Policy");
    for (std::size_t i = 0; i < kMethods.size(); ++i) {
      const bool is_overridden = !class_->type().attr(kMethods[i]).is(base.attr(kMethods[i]));
      if (is_overridden) own_->methods[i] = own_->self.attr(kMethods[i]);
    }
    const py::set events(own_->self.attr("hears"));
    return {events.contains("submitted"), events.contains("launched"), events.contains("completed"),
            events.contains("frames")};
  }

  const py::object& client(const GpuView& view, ClientId id) {
    while (own_->clients.size() < view.clients.size())
      own_->clients.push_back(
          py::cast(ClientRef{callback_, ClientId{static_cast<std::uint32_t>(own_->clients.size())}}));
    return own_->clients[id.value];
  }

  py::object argument(const OpView& op) const { return py::cast(OpRef{callback_, callback_->number, &op}); }
  template <class Value>
  py::object argument(const Value& value) const {
    return py::cast(value);
  }

  template <class... Arguments>
  void hear(const GpuView& view, Event event, ClientId who, const Arguments&... arguments) {
    // Whether there is a method is settled when the policy is made: no lock is needed to see it.
    const py::object& method = own_->methods[event];
    if (!method) return;
    ask(view, nullptr, [&] { method(own_->view, client(view, who), argument(arguments)...); });
  }

  template <class Question>
  void ask(const GpuView& view, Actions* actions, const Question& question) {
    const py::gil_scoped_acquire lock;
    struct Scope {
      PolicyCallback& callback;
      ~Scope() {
        callback.view = nullptr;
        callback.actions = nullptr;
      }
    } const scope{*callback_};
    *callback_ = {&view, actions, callback_->number + 1};
    try {
      question();
    } catch (const py::error_already_set& error) {
      throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.9f} s: {}", name_,
                                                  to_seconds(view.now - kRunStart), traceback_of(error)));
    }
  }

  KeptThread thread_;
  std::shared_ptr<PolicyClass> class_;
  std::string name_;
  SharedCallback callback_ = std::make_shared<PolicyCallback>();
  std::unique_ptr<Objects> own_;
  Hears hears_;
};

template <class Value>
Value get(const py::handle& dict, const char* key) {
  return dict[key].cast<Value>();
}

ParameterValue default_of(const ParameterDescriptor& parameter, const py::handle& value) {
  if (parameter.type == ParameterType::kByClient) {
    const auto values = value.cast<std::map<std::string, double>>();
    return ByClient(values.begin(), values.end());
  }
  if (parameter.type == ParameterType::kBoolean) return value.cast<bool>();
  return parse_parameter(parameter, py::str(value).cast<std::string>(), {});
}

ParameterDescriptor read_parameter(const py::handle& row) {
  static const std::map<std::string, ParameterType> kTypes = {
      {"duration", ParameterType::kDuration}, {"real", ParameterType::kReal},
      {"integer", ParameterType::kInteger},   {"boolean", ParameterType::kBoolean},
      {"choice", ParameterType::kChoice},     {"by_client", ParameterType::kByClient}};
  ParameterDescriptor parameter;
  parameter.name = get<std::string>(row, "name");
  parameter.type = kTypes.at(get<std::string>(row, "type"));
  parameter.unit = get<std::string>(row, "unit");
  parameter.minimum = get<double>(row, "minimum");
  parameter.maximum = get<double>(row, "maximum");
  parameter.choices = get<std::vector<std::string>>(row, "choices");
  parameter.meaning = get<std::string>(row, "meaning");
  parameter.source = get<std::string>(row, "source");
  if (parameter.type == ParameterType::kDuration) parameter.default_value = Duration{0};
  parameter.default_value = default_of(parameter, row["default"]);
  return parameter;
}

}  // namespace

PolicyDescriptor describe_python_policy(py::handle policy_class) {
  const py::dict described = policy_class.attr("_describe")();
  PolicyDescriptor descriptor;
  descriptor.name = get<std::string>(described, "name");
  descriptor.summary = get<std::string>(described, "summary");
  descriptor.source = get<std::string>(described, "source");
  descriptor.deviations = get<std::vector<std::string>>(described, "deviations");
  for (const py::handle& row : described["parameters"]) descriptor.parameters.add(read_parameter(row));
  const auto needs = get<std::set<std::string>>(described, "needs");
  descriptor.needs = {needs.contains("frame_events"), needs.contains("quality_levels"),
                      needs.contains("predictions"),  needs.contains("device_time"),
                      needs.contains("oracle"),       needs.contains("shared_context")};
  const auto type = std::make_shared<PolicyClass>(py::reinterpret_borrow<py::object>(policy_class));
  descriptor.create = [type, name = descriptor.name](const Parameters& parameters) -> std::unique_ptr<Policy> {
    return std::make_unique<PythonPolicy>(type, name, parameters);
  };
  return descriptor;
}

std::string code_hash(py::handle policy_class) {
  return content_hash(policy_class.attr("_code")().cast<std::string>()).substr(0, 16);
}

}  // namespace corun
