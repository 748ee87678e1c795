#include "experiments/cluster_choice.h"

#include <array>
#include <cmath>
#include <filesystem>

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLongest{std::chrono::hours{24 * 3650}};
constexpr std::array<std::string_view, 2> kLinks = {"flat", "pairs"};

struct NodesReading {
  NodeSpec spec;
  std::uint64_t count = 1;
  bool has_pairs = false;
};

struct PodsReading {
  PodSpec spec;
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
         out.spec.arrival = r.duration(n, Duration(0), kLongest, "s").value_or(Duration(0));
       }},
      {"every", "duration",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.every = r.duration(n, Duration(0), kLongest, "s").value_or(Duration(0));
       }},
      {"runtime", "duration",
       [](const Node& n, PodsReading& out, ScalarReader& r) {
         out.spec.runtime = r.duration(n, Duration(0), kLongest, "s").value_or(Duration(0));
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

  std::string resolve(const std::string& path) const {
    return (std::filesystem::path(folder) / path).lexically_normal().string();
  }
};

void read_nodes(const Node& node, ClusterReading& out, ScalarReader& reader) {
  out.choice.nodes_where = node.where;
  out.choice.nodes_file.clear();
  out.choice.nodes.clear();
  if (node.is_scalar()) {
    out.choice.nodes_file = out.resolve(reader.text(node).value_or(""));
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

void read_pods(const Node& node, ClusterReading& out, ScalarReader& reader) {
  out.choice.pods_where = node.where;
  out.choice.pods_file.clear();
  out.choice.pods.clear();
  if (node.is_scalar()) {
    out.choice.pods_file = out.resolve(reader.text(node).value_or(""));
    return;
  }
  if (!reader.expect(node, Node::Kind::kSequence, "pods.csv, or [{ count: 10, cards: 0.5, runtime: 1h }]")) return;
  for (const Node& item : node.items) {
    PodsReading group;
    if (!reader.expect(item, Node::Kind::kMapping, "{ count: 10, cards: 0.5, runtime: 1h }")) continue;
    read_fields(item, pods_fields(), "key", group, reader);
    if (to_seconds(group.spec.arrival) + static_cast<double>(group.count) * to_seconds(group.every) >
        to_seconds(kLongest)) {
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
      {"admission_latency", "duration",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.latency.admission = r.duration(n, Duration(0), kLongest, "s").value_or(Duration(0));
       }},
      {"allocation_latency", "duration",
       [](const Node& n, ClusterReading& out, ScalarReader& r) {
         out.choice.latency.allocation = r.duration(n, Duration(0), kLongest, "s").value_or(Duration(0));
       }},
  };
  return table;
}

}  // namespace

void read_cluster(const Node& node, const std::string& folder, ClusterChoice& out, ScalarReader& reader) {
  ClusterReading reading{out, folder};
  if (reader.expect(node, Node::Kind::kMapping, "cluster: { nodes: nodes.csv, pods: pods.csv }"))
    read_fields(node, cluster_fields(), "key", reading, reader);
}

void check_cluster(const Node& node, const ClusterChoice& cluster, ScalarReader& reader) {
  if (cluster.nodes.empty() && cluster.nodes_file.empty()) reader.wrong(node, "a cluster needs `nodes`");
  if (cluster.pods.empty() && cluster.pods_file.empty()) reader.wrong(node, "a cluster needs `pods`");
}

std::string cluster_text(const ClusterChoice& c) {
  std::string text = fmt::format("stay={}\nspeedup={}\nlatency_ns={} {}\n", c.pods_stay, c.arrival_speedup,
                                 to_ns(c.latency.admission), to_ns(c.latency.allocation));
  for (std::size_t i = 0; i < c.nodes.size(); ++i) {
    const NodeSpec& n = c.nodes[i];
    text += fmt::format("node.{:06}={} {} {} {} {} {} ", i, n.name, n.model, n.cards, n.card_memory_bytes, n.cpu_milli,
                        n.memory_mib);
    for (const Link link : n.links) text += fmt::format("{},", static_cast<int>(link));
    text += "\n";
  }
  for (std::size_t i = 0; i < c.pods.size(); ++i) {
    const PodSpec& p = c.pods[i];
    text += fmt::format("pod.{:06}={} {} {} {} {} {} {} {} {}\n", i, p.name, p.cards, p.milli, p.memory_bytes,
                        p.cpu_milli, p.memory_mib, fmt::join(p.models, "|"), to_ns(p.arrival), to_ns(p.runtime));
  }
  return text;
}

}  // namespace corun
