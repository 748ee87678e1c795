#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/policy/parameter_table.h"
#include "sim/policy/placement.h"
#include "sim/policy/policy.h"
#include "traces/base/error.h"

namespace corun {

/// What a policy cannot work without. A run that lacks it is refused before it starts.
struct Needs {
  bool frame_events = false;    ///< at least one interactive client
  bool quality_levels = false;  ///< at least one client with a quality menu of two levels or more
  bool predictions = false;     ///< predicted durations from a solo profile
  bool device_time = false;     ///< per-client device time
  bool oracle = false;          ///< exact durations, which nothing real can know: for upper bounds
  bool shared_context = false;  ///< kernels of all clients in one context: the device's sharing is made concurrent
};

/// Checked parameter values, complete: every parameter of the table has one.
class Parameters {
 public:
  void set(std::string name, ParameterValue value) { values_[std::move(name)] = std::move(value); }

  /// Asserts that the parameter exists with that type: a policy asks for what its own table declares.
  Duration duration(std::string_view name) const { return get<Duration>(name); }
  double real(std::string_view name) const { return get<double>(name); }
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  bool boolean(std::string_view name) const { return get<bool>(name); }
  const std::string& choice(std::string_view name) const { return get<std::string>(name); }
  const ByClient& by_client(std::string_view name) const { return get<ByClient>(name); }

  const std::map<std::string, ParameterValue, std::less<>>& values() const { return values_; }

 private:
  template <class T>
  const T& get(std::string_view name) const {
    const auto found = values_.find(name);
    CORUN_ASSERT(found != values_.end() && std::holds_alternative<T>(found->second), "parameter '{}'", name);
    return std::get<T>(found->second);
  }
  std::map<std::string, ParameterValue, std::less<>> values_;
};

/// Everything there is to say about a policy, in one place: it feeds validation of experiments, `simcli policy list`,
/// the generated page policies/README.md, the refusal of runs that lack what it needs, and the conformance suite.
struct PolicyDescriptor {
  std::string name;
  std::string summary;                  ///< one sentence
  std::string source;                   ///< authors, title, venue, year; artifact
  std::vector<std::string> deviations;  ///< where this departs from paper or artifact, and why
  ParameterTable parameters;
  Needs needs;
  /// Its decisions follow from the clients that are present and from what happened since the device was last without
  /// any: not from names, nor from clients that have gone or not come, nor from how late it is. Cards of a cluster on
  /// which the same happens are then simulated once.
  bool forgets = false;
  std::function<std::unique_ptr<Policy>(const Parameters&)> create;                     ///< shares a device; or
  std::function<std::unique_ptr<PlacementPolicy>(const Parameters&)> create_placement;  ///< places pods on a cluster

  const ParameterDescriptor* find(std::string_view parameter) const;  ///< nullptr if there is none
  Parameters defaults() const;
};

/// Reads one value as the descriptor types it. Throws Error(kInput, where) that says what was found, the type, unit
/// and range expected, and what to write instead ("a duration needs a unit: 100us?"). kByClient is not text and
/// refused.
ParameterValue parse_parameter(const ParameterDescriptor& parameter, std::string_view text,
                               const SourceLocation& where);
/// The value as YAML would write it ("16.6ms", "true", "{ train: 0.4 }").
std::string format_parameter(const ParameterValue& value);

/// The policies a build or an experiment knows, in order of registration. No globals: each user fills its own.
class PolicyRegistry {
 public:
  /// Throws Error(kInput) if the name is taken.
  void add(PolicyDescriptor descriptor);
  const PolicyDescriptor* find(std::string_view name) const;
  const std::vector<PolicyDescriptor>& all() const { return descriptors_; }

 private:
  std::vector<PolicyDescriptor> descriptors_;
};

/// Binary interface of a policy in a shared library: one function
///
///     extern "C" const corun::PolicyPlugin* corun_policy_plugin();
///
/// returning a static object. Host and library must be built with the same compiler and this header's `kAbi`.
struct PolicyPlugin {
  static constexpr std::uint32_t kAbi = 12;
  std::uint32_t size = sizeof(PolicyPlugin);
  std::uint32_t abi = kAbi;
  PolicyDescriptor (*describe)() = nullptr;
};
inline constexpr char kPolicyPluginEntry[] = "corun_policy_plugin";

}  // namespace corun
