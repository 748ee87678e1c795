#include "experiments/question/scenario_reader.h"

#include <algorithm>

#include "experiments/question/clients/client_fields.h"
#include "experiments/question/device_choice.h"
#include "traces/base/units.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestDelay = 1s;
constexpr std::size_t kMostClients = 10'000, kMostPolicies = 10'000;  // of a scenario

Field<GateDelays> delay_field(std::string_view key, Duration GateDelays::*member) {
  return {key, "duration", [=](const Node& node, GateDelays& out, ScalarReader& read) {
            if (const auto delay = read.duration(node, Duration{0}, kLongestDelay, "us")) out.*member = *delay;
          }};
}

const FieldTable<GateDelays>& gate_fields() {
  static const FieldTable<GateDelays> table = {
      delay_field("frame_heard", &GateDelays::frame_heard),
      delay_field("end_heard", &GateDelays::end_heard),
      delay_field("answer", &GateDelays::answer),
      delay_field("wake", &GateDelays::wake),
  };
  return table;
}

const Node* either(const Node* own, const Node* shared) { return own != nullptr ? own : shared; }

/// The one client, or the i-th of several that are alike: the first keeps the name, whatever their count.
ClientChoice numbered(ClientChoice client, std::uint32_t i) {
  if (i > 0) client.name += fmt::format("#{}", i + 1);
  client.arrival += i * client.every;
  return client;
}

/// What an expectation calls the figures that are no client's.
const char* others_name(const Scenario& scenario) { return scenario.cluster ? "cluster" : "device"; }

bool has(const Scenario& scenario, const MetricPath& path) {
  const bool has_policy =
      std::ranges::find(scenario.policies, path.policy, &PolicyChoice::label) != scenario.policies.end();
  const bool has_client =
      std::ranges::find(scenario.clients, path.client, &ClientChoice::name) != scenario.clients.end();
  const bool has_other = path.client == others_name(scenario);
  return has_policy && (has_client || has_other);
}

}  // namespace

Scenario ScenarioReader::read(const WrittenScenario& written, const Node& where) {
  Scenario out;
  out.name = written.name;
  out.description = written.description;
  out.is_seen = written.is_seen.value_or(top_.is_seen.value_or(false));
  out.where = where.where;
  const bool is_cluster = written.cluster != nullptr || (top_.cluster != nullptr && written.clients == nullptr);
  if (is_cluster) read_cluster_of(written, out);
  const bool has_clients = !is_cluster || written.clients != nullptr || !out.cluster->pod_clients.empty();
  if (has_clients) read_device_of(written, where, out);
  if (const Node* node = either(written.gate, top_.gate)) read_gate(*node, out.gate);
  out.horizon = written.horizon.value_or(top_.horizon.value_or(out.horizon));
  out.warmup = written.warmup ? written.warmup : top_.warmup;
  if (out.warmup && *out.warmup >= out.horizon) reader_.wrong(where, "`warmup` is not shorter than `horizon`");
  if (const Node* node = either(written.seeds, top_.seeds)) read_seeds(*node, out);
  if (has_clients) read_clients(either(written.clients, top_.clients), where, out);
  if (is_cluster) check_cluster(*either(written.cluster, top_.cluster), out, reader_);
  read_policies(either(written.policies, top_.policies), where, out);
  check_clients_of_parameters(out);
  read_expectations(written.expect != top_.expect ? written.expect : nullptr, out, true);
  read_expectations(top_.expect, out, false);
  read_qos_of_clients(out);
  return out;
}

void ScenarioReader::read_cluster_of(const WrittenScenario& written, Scenario& out) {
  ClusterChoice& cluster = out.cluster.emplace();
  if (top_.cluster != nullptr) read_cluster(*top_.cluster, folder_, policies_, cluster, reader_);
  if (written.cluster != nullptr && written.cluster != top_.cluster)
    read_cluster(*written.cluster, folder_, policies_, cluster, reader_);
  out.horizon = kLongestHorizon;
}

void ScenarioReader::read_device_of(const WrittenScenario& written, const Node& where, Scenario& out) {
  if (top_.device != nullptr) read_device(*top_.device, folder_, out.device, out.device_facts, reader_);
  if (written.device != nullptr && written.device != top_.device)
    read_device(*written.device, folder_, out.device, out.device_facts, reader_);
  const Node* node = either(written.device, top_.device);
  const bool has_model =
      node != nullptr && (node->is_scalar() || node->find("model") != nullptr || node->find("file") != nullptr);
  if (!has_model && out.device.name.empty())
    reader_.wrong(node == nullptr ? where : *node, "no device is named", "for example `device: h200`");
}

void ScenarioReader::read_gate(const Node& node, GateDelays& gate) {
  if (reader_.expect(node, Node::Kind::kMapping, "gate: { frame_heard: 30us, wake: 50us }"))
    read_fields(node, gate_fields(), "key", gate, reader_);
}

void ScenarioReader::read_seeds(const Node& node, Scenario& out) {
  out.seeds.clear();
  if (node.is_scalar()) {
    const std::uint64_t count = reader_.integer(node, 1, 100'000).value_or(1);
    for (std::uint64_t seed = 1; seed <= count; ++seed) out.seeds.push_back(seed);
    return;
  }
  if (!reader_.expect(node, Node::Kind::kSequence, "seeds: 5, or seeds: [1, 2, 3]")) return;
  std::set<std::uint64_t> known;
  for (const Node& item : node.items) {
    const auto seed = reader_.integer(item, 0, UINT64_MAX);
    const bool is_new = seed && known.insert(*seed).second;
    if (is_new) out.seeds.push_back(*seed);
    if (seed && !is_new) reader_.wrong(item, fmt::format("seed {} is given twice", *seed));
  }
  if (out.seeds.empty()) reader_.wrong(node, "at least one seed is needed");
}

void ScenarioReader::read_clients(const Node* node, const Node& where, Scenario& out) {
  if (node == nullptr)
    return reader_.wrong(where, "no clients are given", "for example `clients: [{ name: game, trace: game.corun }]`");
  if (!reader_.expect(*node, Node::Kind::kSequence, "clients: [{ name: game, trace: game.corun }]")) return;
  ClientReading defaults;
  defaults.folder = folder_;
  if (top_.defaults != nullptr && reader_.expect(*top_.defaults, Node::Kind::kMapping, "defaults: { host_jitter: 3% }"))
    read_fields(*top_.defaults, client_fields(), "key", defaults, reader_);
  for (const Node& item : node->items) {
    ClientChoice client;
    if (!read_client(item, defaults, client, reader_)) continue;
    if (out.clients.size() + client.count > kMostClients)
      return reader_.wrong(item, fmt::format("these are more than {} clients", kMostClients));
    for (std::uint32_t i = 0; i < client.count; ++i) add_client(item, numbered(client, i), out);
  }
  if (node->items.empty()) reader_.wrong(*node, "at least one client is needed");
}

void ScenarioReader::add_client(const Node& item, ClientChoice client, Scenario& out) {
  const bool is_new = std::ranges::find(out.clients, client.name, &ClientChoice::name) == out.clients.end();
  if (!is_new)
    reader_.wrong(item, fmt::format("client `{}` is given twice", client.name), "two that are alike are `count: 2`");
  if (is_new) out.clients.push_back(std::move(client));
}

void ScenarioReader::read_policies(const Node* node, const Node& where, Scenario& out) {
  if (node == nullptr)
    return reader_.wrong(where, "no policies are given", "for example `policies: [passthrough, pilotfish]`");
  if (!reader_.expect(*node, Node::Kind::kSequence, "policies: [passthrough, pilotfish]")) return;
  if (node->items.size() > kMostPolicies)
    return reader_.wrong(*node,
                         fmt::format("found {} policies, expected at most {}", node->items.size(), kMostPolicies));
  for (const Node& item : node->items) {
    auto choice = read_policy(item, folder_, policies_, reader_);
    if (!choice) continue;
    const bool is_new = std::ranges::find(out.policies, choice->label, &PolicyChoice::label) == out.policies.end();
    if (!is_new)
      reader_.wrong(item, fmt::format("policy `{}` is listed twice", choice->label),
                    "tell them apart with `as: another-name`");
    if (is_new) out.policies.push_back(std::move(*choice));
  }
  if (node->items.empty()) reader_.wrong(*node, "at least one policy is needed");
}

void ScenarioReader::check_clients_of_parameters(const Scenario& scenario) {
  std::vector<std::string_view> names;
  for (const ClientChoice& client : scenario.clients) names.push_back(client.name);
  for (const PolicyChoice& policy : scenario.policies)
    for (const auto& [parameter, value] : policy.parameters.values())
      if (const auto* by_client = std::get_if<ByClient>(&value))
        for (const auto& [client, number] : *by_client)
          if (std::ranges::find(names, client) == names.end())
            reader_.unknown(fmt::format("client in parameter `{}` of policy `{}`:", parameter, policy.label), client,
                            policy.where, names, "E0306");
}

void ScenarioReader::read_expectations(const Node* node, Scenario& out, bool must_apply) {
  for (const PolicyChoice& policy : out.policies) policies_read_.insert(policy.label);
  for (const ClientChoice& client : out.clients) clients_read_.insert(client.name);
  clients_read_.insert(others_name(out));
  if (node == nullptr || !reader_.expect(*node, Node::Kind::kSequence, "expect: [pilotfish.game.fps_mean >= 55fps]"))
    return;
  for (const Node& item : node->items) {
    const auto expectation = read_expectation(item, reader_);
    if (!expectation) applied_.insert(&item);  // its mistake has been reported
    if (!expectation) continue;
    const bool applies = has(out, expectation->left) && (!expectation->right || has(out, *expectation->right));
    if (applies) out.expectations.push_back(*expectation);
    if (applies) applied_.insert(&item);
    if (!applies && must_apply) refuse_expectation(item);
  }
}

void ScenarioReader::check_expectations() {
  if (top_.expect == nullptr) return;
  for (const Node& item : top_.expect->items)
    if (!applied_.contains(&item)) refuse_expectation(item);
}

void ScenarioReader::refuse_expectation(const Node& item) {
  reader_.wrong(item, "no scenario has this policy and client", nearest_policy_and_client(item),
                {"an expectation is `policy.client.metric <= value`"});
}

std::string ScenarioReader::nearest_policy_and_client(const Node& item) const {
  const auto missing = [](std::string_view what, const std::string& name, const std::set<std::string>& known) {
    const std::string nearest = nearest_name(name, known);
    return fmt::format("no {} is called `{}`{}", what, name,
                       nearest.empty() ? fmt::format("; there are {}", fmt::join(known, ", "))
                                       : fmt::format(": did you mean `{}`?", nearest));
  };
  Diagnostics ignored;
  ScalarReader reader(ignored);
  const auto expectation = read_expectation(item, reader);
  for (const auto& path : {std::optional(expectation->left), expectation->right}) {
    if (!path) continue;
    if (!policies_read_.contains(path->policy)) return missing("policy", path->policy, policies_read_);
    if (!clients_read_.contains(path->client)) return missing("client", path->client, clients_read_);
  }
  return "";
}

void ScenarioReader::read_qos_of_clients(Scenario& out) {
  for (const ClientChoice& client : out.clients)
    for (const auto& [metric, condition] : client.qos)
      if (const auto wish = read_qos(client.name, metric, condition, reader_))
        for (const PolicyChoice& policy : out.policies) {
          out.qos.push_back(*wish);
          out.qos.back().left.policy = policy.label;
          if (out.qos.back().right) out.qos.back().right->policy = policy.label;
        }
}

}  // namespace corun
