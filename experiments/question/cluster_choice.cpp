#include "experiments/question/cluster_choice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/question/cluster_lists.h"
#include "experiments/question/experiment.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 2> kLinks = {"flat", "pairs"};
constexpr std::array<std::string_view, 2> kProgress = {"simulated", "by_mix"};
constexpr Duration kShortestMixWindow = 100ms, kLongestMixWindow = 10min;

struct NodesReading {
  NodeSpec spec;
  std::uint64_t count = 1;
  bool has_pairs = false;
};

struct PodsReading {
  PodSpec spec;
  PodClient client;
  std::uint64_t count = 1;
  Duration every{};
};

template <class T, class Read>
Field<T> field(std::string_view key, std::string_view type, Read read_value) {
  return {key, type, read_value};
}

std::int64_t mib(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes >> 20); }

const FieldTable<NodesReading>& nodes_fields() {
  static const FieldTable<NodesReading> table = {
      {"name", "text",
       [](const Node& n, NodesReading& out, ScalarReader& r) { out.spec.name = r.text(n).value_or(""); }},
      {"count", "whole number",
       [](const Node& n, NodesReading& out, ScalarReader& r) { out.count = r.integer(n, 1, 100'000).value_or(1); }},
      {"cards", "whole number",
       [](const Node& n, NodesReading& out, ScalarReader& r) {
         out.spec.cards = static_cast<std::uint32_t>(r.integer(n, 0, 64).value_or(0));
       }},
      {"model", "text",
       [](const Node& n, NodesReading& out, ScalarReader& r) { out.spec.model = r.text(n).value_or(""); }},
      {"card_memory", "size",
       [](const Node& n, NodesReading& out, ScalarReader& r) { out.spec.card_memory_bytes = r.bytes(n).value_or(0); }},
      {"cpus", "number",
       [](const Node& n, NodesReading& out, ScalarReader& r) {
         out.spec.cpu_milli = std::llround(r.number(n, 0, 1e6).value_or(0) * 1000);
       }},
      {"memory", "size",
       [](const Node& n, NodesReading& out, ScalarReader& r) { out.spec.memory_mib = mib(r.bytes(n).value_or(0)); }},
      {"links", "flat or pairs",
       [](const Node& n, NodesReading& out, ScalarReader& r) {
         if (const auto index = r.choice(n, kLinks)) out.has_pairs = *index == 1;
       }},
  };
  return table;
}

const FieldTable<PodsReading>& pods_fields() {
  static const FieldTable<PodsReading> table = {
      {"name", "text",
       [](const Node& n, PodsReading& out, ScalarReader& r) { out.spec.name = r.text(n).value_or(""); }},
      {"count", "whole number",
       [](const Node& n, PodsReading& out, ScalarReader& r) { out.count = r.integer(n, 1, 1'000'000).value_or(1); }},
      {"cards", "number",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         const double cards = r.number(n, 0, 64).value_or(0);
         const bool is_part = cards > 0 && cards < 1;
         if (!is_part && cards != std::floor(cards))
           return r.wrong(n, "a pod asks for a part of one card or for whole cards", "for example 0.3, 1 or 4");
         out.spec.cards = is_part ? 1 : static_cast<std::uint32_t>(cards);
         out.spec.milli = is_part ? static_cast<Milli>(std::lround(cards * kWholeCard)) : cards > 0 ? kWholeCard : 0;
         if (is_part && out.spec.milli == 0) r.wrong(n, "the smallest part of a card is 0.001");
       }},
      {"card_memory", "size",
       [](const Node& n, PodsReading& out, ScalarReader& r) { out.spec.memory_bytes = r.bytes(n).value_or(0); }},
      {"cpus", "number",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.spec.cpu_milli = std::llround(r.number(n, 0, 1e6).value_or(0) * 1000);
       }},
      {"memory", "size",
       [](const Node& n, PodsReading& out, ScalarReader& r) { out.spec.memory_mib = mib(r.bytes(n).value_or(0)); }},
      {"model", "text",
       [](const Node& n, PodsReading& out, ScalarReader& r) { out.spec.models = {r.text(n).value_or("")}; }},
      {"arrival", "duration",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.spec.arrival = r.duration(n, Duration(0), kLongestPodTime, "s").value_or(Duration(0));
       }},
      {"every", "duration",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.every = r.duration(n, Duration(0), kLongestPodTime, "s").value_or(Duration(0));
       }},
      {"runtime", "duration",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.spec.runtime = r.duration(n, Duration(0), kLongestPodTime, "s").value_or(Duration(0));
         out.client.has_runtime = out.spec.runtime > Duration(0);
       }},
      {"client", "name",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.spec.client = out.client.name = r.text(n).value_or("");
         out.client.where = n.where;
       }},
  };
  return table;
}

/// Two cards a switch, two switches a socket, the rest across the system.
std::vector<Link> pair_links(std::uint32_t cards) {
  std::vector<Link> links;
  for (std::uint32_t a = 0; a < cards; ++a)
    for (std::uint32_t b = 0; b < cards; ++b)
      links.push_back(a == b           ? Link::kSame
                      : a / 2 == b / 2 ? Link::kSwitch
                      : a / 4 == b / 4 ? Link::kHostBridge
                                       : Link::kSystem);
  return links;
}

struct ClusterReading {
  ClusterChoice& choice;
  const std::string& folder;
  PolicyRegistry& policies;
};

void read_nodes(const Node& node, ClusterReading& out, ScalarReader& reader) {
  out.choice.nodes_where = node.where;
  out.choice.nodes_file.clear();
  out.choice.nodes.clear();
  if (node.is_scalar()) {
    out.choice.nodes_file = in_folder(out.folder, reader.text(node).value_or(""));
    return;
  }
  if (!reader.expect(node, Node::Kind::kSequence, "nodes.csv, or [{ count: 4, cards: 8, cpus: 96 }]")) return;
  for (const Node& item : node.items) {
    NodesReading group;
    if (!reader.expect(item, Node::Kind::kMapping, "{ count: 4, cards: 8 }")) continue;
    read_fields(item, nodes_fields(), "key", group, reader);
    if (group.has_pairs) group.spec.links = pair_links(group.spec.cards);
    const std::string name = group.spec.name.empty() ? "node" : group.spec.name;
    for (std::uint64_t i = 0; i < group.count; ++i) {
      out.choice.nodes.push_back(group.spec);
      out.choice.nodes.back().name = fmt::format("{}-{}", name, out.choice.nodes.size() - 1);
    }
  }
}

Node at(const SourceLocation& where) {
  Node node;
  node.where = where;
  return node;
}

/// A client is one program on one card.
void read_pod_client(const PodsReading& group, ClusterChoice& out, ScalarReader& reader) {
  if (group.spec.cards != 1)
    reader.wrong(at(group.client.where),
                 fmt::format("a pod with a `client` runs on one card, and this one asks for {}", group.spec.cards),
                 "for example `cards: 0.5`, or `cards: 1`");
  out.pod_clients.push_back(group.client);
}

void read_pods(const Node& node, ClusterReading& out, ScalarReader& reader) {
  out.choice.pods_where = node.where;
  out.choice.pods_file.clear();
  out.choice.pods.clear();
  out.choice.pod_clients.clear();
  if (node.is_scalar()) {
    out.choice.pods_file = in_folder(out.folder, reader.text(node).value_or(""));
    return;
  }
  if (!reader.expect(node, Node::Kind::kSequence, "pods.csv, or [{ count: 10, cards: 0.5, runtime: 1h }]")) return;
  for (const Node& item : node.items) {
    PodsReading group;
    if (!reader.expect(item, Node::Kind::kMapping, "{ count: 10, cards: 0.5, runtime: 1h }")) continue;
    read_fields(item, pods_fields(), "key", group, reader);
    if (!group.client.name.empty()) read_pod_client(group, out.choice, reader);
    if (to_seconds(group.spec.arrival) + static_cast<double>(group.count) * to_seconds(group.every) >
        to_seconds(kLongestPodTime)) {
      reader.wrong(item, "the last of them arrives after more than ten years");
      group.count = 1;
    }
    const std::string name = group.spec.name.empty() ? "pod" : group.spec.name;
    for (std::uint64_t i = 0; i < group.count; ++i) {
      out.choice.pods.push_back(group.spec);
      out.choice.pods.back().name = fmt::format("{}-{}", name, out.choice.pods.size() - 1);
      out.choice.pods.back().arrival += static_cast<std::int64_t>(i) * group.every;
    }
  }
}

Field<ClusterReading> time_field(std::string_view key, Duration PlacementTimes::*member) {
  return {key, "duration", [=](const Node& n, ClusterReading& out, ScalarReader& r) {
            out.choice.times.*member = r.duration(n, Duration(0), kLongestPodTime, "s").value_or(Duration(0));
          }};
}

void read_unit_cores(const Node& node, ClusterReading& out, ScalarReader& reader) {
  const auto cores = reader.integer(node, 1, kWholeCard);
  if (!cores) return;
  if (kWholeCard % *cores != 0)
    return reader.wrong(node, fmt::format("a card cannot be cut into {} equal parts of whole thousandths", *cores),
                        "for example 100, GPU Manager's, or 10");
  out.choice.unit_cores = static_cast<std::uint32_t>(*cores);
}

const FieldTable<ClusterReading>& cluster_fields() {
  static const FieldTable<ClusterReading> table = {
      {"nodes", "path or list", read_nodes},
      {"pods", "path or list", read_pods},
      {"pods_stay", "true or false",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.pods_stay = r.boolean(n).value_or(false);
       }},
      {"arrival_speedup", "number",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.arrival_speedup = r.number(n, 1e-6, 1e9).value_or(1);
       }},
      time_field("registration_latency", &PlacementTimes::registration),
      time_field("admission_latency", &PlacementTimes::admission),
      time_field("allocation_latency", &PlacementTimes::allocation),
      time_field("register_latency", &PlacementTimes::container),
      time_field("check_period", &PlacementTimes::check_period),
      time_field("collection_period", &PlacementTimes::collection_period),
      {"unit_cores", "whole number", read_unit_cores},
      {"unit_memory", "size",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.unit_memory_bytes = r.bytes(n).value_or(0);
       }},
      {"sharing", "policy",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         if (auto sharing = read_policy(n, out.folder, out.policies, r)) out.choice.sharing = std::move(sharing);
       }},
      {"progress", "simulated or by_mix",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.progress_where = n.where;
         if (const auto index = r.choice(n, kProgress)) out.choice.is_by_mix = *index == 1;
       }},
      {"mix_window", "duration",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.mix_window =
             r.duration(n, kShortestMixWindow, kLongestMixWindow, "s").value_or(ClusterChoice::kMixWindow);
       }},
  };
  return table;
}

void check_pod_client(const PodClient& its, const std::vector<ClientChoice>& clients, ScalarReader& reader) {
  const auto client = std::ranges::find(clients, its.name, &ClientChoice::name);
  if (client == clients.end()) {
    std::vector<std::string_view> names;
    for (const ClientChoice& known : clients) names.push_back(known.name);
    return reader.unknown("client", its.name, its.where, names, "E0306");
  }
  const bool ends = its.has_runtime || client->repeat > 0 || client->stay > Duration{0};
  if (!ends)
    reader.wrong(at(its.where),
                 fmt::format("the work of client `{}` never ends, and these pods have no `runtime`", client->name),
                 "give the client a `repeat`, or the pods a `runtime`");
}

/// What only a pod can say, or a client that runs by itself.
void check_template(const ClientChoice& client, ScalarReader& reader) {
  const auto refuse = [&](bool is_given, std::string_view keys, std::string_view instead) {
    if (is_given)
      reader.wrong(at(client.where),
                   fmt::format("client `{}` of a cluster is what pods do: {} means nothing to it", client.name, keys),
                   std::string(instead));
  };
  refuse(client.count > 1 || client.arrival > Duration{0}, "`count`, `every` or `arrival`",
         "pods say how many come, and when");
  refuse(client.requested_share > 0 || client.requested_bytes > 0 || !client.resizes.empty(), "a request of its own",
         "a pod asks with `cards` and `card_memory`, and is not resized");
  refuse(client.server && client.server->prefill_share > 0, "`prefill_share`", "leave it out");
  refuse(!client.qos.empty(), "`qos`", "`expect:` knows the figures of a cluster");
  refuse(client.name == "cluster", "this name", "`cluster` is the cluster's own");
}

void check_sharing(const PolicyChoice& sharing, ScalarReader& reader) {
  if (!sharing.adjustments.empty())
    reader.wrong(at(sharing.where), "`adjust` is for the policy of one device, and here each card has its own");
  for (const auto& [name, value] : sharing.parameters.values())
    if (const auto* by_client = std::get_if<ByClient>(&value); by_client != nullptr && !by_client->empty())
      reader.wrong(
          at(sharing.where),
          fmt::format("parameter `{}` of `{}` names clients, and those of a card are its pods", name, sharing.label),
          "a pod's part of its card is its `cards`");
}

/// Rates tell when a number of jobs is done, by programs that wait for what they depend on.
void check_by_mix(const PodClient& its, const std::vector<ClientChoice>& clients, ScalarReader& reader) {
  const auto client = std::ranges::find(clients, its.name, &ClientChoice::name);
  if (client == clients.end()) return;
  const auto refuse = [&](bool is_so, std::string_view why) {
    if (is_so)
      reader.wrong(at(its.where),
                   fmt::format("`progress: by_mix` cannot estimate pods of client `{}`: {}", client->name, why),
                   "`progress: simulated` can");
  };
  const bool has_jobs = client->repeat > 0 && client->stay == Duration{0} && !its.has_runtime;
  refuse(!has_jobs, "they end by the clock, and not after a number of jobs (`repeat`)");
  refuse(client->server || client->replay_or_default() == Replay::kOpen, "its jobs come at their own times");
  refuse(client->context.working_set_bytes > 0, "what is paged depends on what was there before (`working_set`)");
}

}  // namespace

void read_cluster(const Node& node, const std::string& folder, PolicyRegistry& policies, ClusterChoice& out,
                  ScalarReader& reader) {
  ClusterReading reading{out, folder, policies};
  if (reader.expect(node, Node::Kind::kMapping, "cluster: { nodes: nodes.csv, pods: pods.csv }"))
    read_fields(node, cluster_fields(), "key", reading, reader);
}

void check_cluster(const Node& node, const Scenario& scenario, ScalarReader& reader) {
  const ClusterChoice& cluster = *scenario.cluster;
  if (cluster.nodes.empty() && cluster.nodes_file.empty()) reader.wrong(node, "a cluster needs `nodes`");
  if (cluster.pods.empty() && cluster.pods_file.empty()) reader.wrong(node, "a cluster needs `pods`");
  if (cluster.pods_stay && !cluster.pod_clients.empty())
    reader.wrong(node, "`pods_stay` keeps pods for ever, and a pod with a `client` leaves when its work is done");
  if (cluster.pod_clients.empty() && !scenario.clients.empty())
    reader.wrong(at(scenario.clients.front().where),
                 "the `clients` of a cluster are what its pods do, and no pod names one", "give pods a `client`");
  if (!scenario.clients.empty())
    for (const PodClient& its : cluster.pod_clients) check_pod_client(its, scenario.clients, reader);
  for (const ClientChoice& client : scenario.clients) check_template(client, reader);
  if (cluster.sharing) check_sharing(*cluster.sharing, reader);
  if (cluster.is_by_mix)
    for (const PodClient& its : cluster.pod_clients) check_by_mix(its, scenario.clients, reader);
}

void round_to_units(const ClusterChoice& cluster, PodSpec& pod) {
  if (cluster.unit_cores > 0) {
    const Milli unit = kWholeCard / cluster.unit_cores;
    pod.milli = (pod.milli + unit - 1) / unit * unit;
  }
  if (const std::uint64_t unit = cluster.unit_memory_bytes; unit > 0)
    pod.memory_bytes = pod.memory_bytes / unit * unit + (pod.memory_bytes % unit > 0 ? unit : 0);
}

void round_to_units(const ClusterChoice& cluster, NodeSpec& node) {
  if (const std::uint64_t unit = cluster.unit_memory_bytes; unit > 0)
    node.card_memory_bytes -= node.card_memory_bytes % unit;
}

std::string cluster_text(const ClusterChoice& c) {
  std::string text = fmt::format("stay={}\nspeedup={}\nlatency_ns={} {}\n", c.pods_stay, c.arrival_speedup,
                                 to_ns(c.times.admission), to_ns(c.times.allocation));
  text +=
      fmt::format("card_manager_ns={} {} {} {}\nunits={} {}\n", to_ns(c.times.registration), to_ns(c.times.container),
                  to_ns(c.times.check_period), to_ns(c.times.collection_period), c.unit_cores, c.unit_memory_bytes);
  if (c.is_by_mix) text += fmt::format("progress=by_mix\nmix_window_ns={}\n", to_ns(c.mix_window));
  for (std::size_t i = 0; i < c.nodes.size(); ++i) {
    const NodeSpec& n = c.nodes[i];
    text += fmt::format("node.{:06}={} {} {} {} {} {} ", i, n.name, n.model, n.cards, n.card_memory_bytes, n.cpu_milli,
                        n.memory_mib);
    for (const Link link : n.links) text += fmt::format("{},", static_cast<int>(link));
    text += "\n";
  }
  for (std::size_t i = 0; i < c.pods.size(); ++i) {
    const PodSpec& p = c.pods[i];
    text +=
        fmt::format("pod.{:06}={} {} {} {} {} {} {} {} {} {}\n", i, p.name, p.cards, p.milli, p.memory_bytes,
                    p.cpu_milli, p.memory_mib, fmt::join(p.models, "|"), to_ns(p.arrival), to_ns(p.runtime), p.client);
  }
  return text;
}

}  // namespace corun
