#include "experiments/run/clients/needs_check.h"

#include <algorithm>

namespace corun {

namespace {

void refuse_unmet(const Scenario& scenario, const PolicyChoice& choice, const Needs& needs,
                  const std::vector<ClientSpec>& clients) {
  const auto refuse = [&](std::string_view what, std::string help) {
    throw Error(ErrorKind::kUnsupported, choice.where,
                fmt::format("policy `{}` needs {}, and no client of scenario `{}` has {}", choice.label, what,
                            scenario.own_name(), what.ends_with("s") ? "them" : "it"),
                std::move(help));
  };
  const auto any = [&](auto has) { return std::ranges::any_of(clients, has); };
  if (needs.frame_events && !any([](const ClientSpec& c) { return c.role == Role::kInteractive; }))
    refuse("frame events", "give it an interactive client: a capture of frames, or `synthetic: { game: rdr2 }`");
  if (needs.quality_levels && !any([](const ClientSpec& c) { return c.quality_menu.size() > 1; }))
    refuse("quality levels", "give a game a menu: `quality: default`");
  const auto has_predictions = [](const ClientSpec& c) {
    return std::ranges::any_of(c.workload->ops,
                               [](const WorkOp& op) { return op.predicted_by_name >= Duration::zero(); });
  };
  if (needs.predictions && !any(has_predictions))
    refuse("predicted durations",
           "give a client a `trace`; one with a `command` may have both: then it is its profile");
}

void check_policy(const Scenario& scenario, const PolicyChoice& choice, const PolicyDescriptor& policy,
                  const std::vector<ClientSpec>& clients) {
  if (scenario.cluster && !policy.create_placement)
    throw Error(
        ErrorKind::kUnsupported, choice.where,
        fmt::format("policy `{}` shares a device, and scenario `{}` is a cluster", choice.label, scenario.own_name()),
        "policies that place pods: `simcli policy list` says which need a cluster");
  if (!scenario.cluster && policy.create_placement)
    throw Error(
        ErrorKind::kUnsupported, choice.where,
        fmt::format("policy `{}` places pods, and scenario `{}` has no `cluster`", choice.label, scenario.own_name()));
  if (policy.create) refuse_unmet(scenario, choice, policy.needs, clients);
}

void check_card_policy(const Scenario& scenario, const PolicyChoice& choice, const PolicyDescriptor& policy,
                       const std::vector<ClientSpec>& clients) {
  if (!policy.create)
    throw Error(
        ErrorKind::kUnsupported, choice.where,
        fmt::format("`sharing: {}`: this policy places pods, and what is wanted is one for the clients of a card",
                    choice.label),
        "for example `sharing: passthrough`, or `sharing: gaiagpu`");
  refuse_unmet(scenario, choice, policy.needs, clients);
}

}  // namespace

PolicyChoice card_policy(const Scenario& scenario, const PolicyRegistry& policies) {
  if (scenario.cluster->sharing) return *scenario.cluster->sharing;
  const PolicyDescriptor* passthrough = policies.find("passthrough");
  CORUN_ASSERT(passthrough != nullptr, "cards need the policy `passthrough`");
  return {passthrough->name, passthrough->name, passthrough->defaults(), scenario.where, ""};
}

void check_needs(const Scenario& scenario, const std::vector<ClientSpec>& clients, const PolicyRegistry& policies,
                 Diagnostics& refusals) {
  const auto add = [&](const PolicyChoice& choice, auto check) {
    try {
      check(scenario, choice, *policies.find(choice.policy), clients);
    } catch (const Error& error) {
      refusals.add(error, choice.where);
    }
  };
  for (const PolicyChoice& choice : scenario.policies) add(choice, check_policy);
  if (scenario.cluster && !clients.empty()) add(card_policy(scenario, policies), check_card_policy);
}

void refuse_unkillable(const Scenario& scenario, const std::vector<ClientSpec>& clients, const PolicyRegistry& policies,
                       Diagnostics& refusals) {
  const auto refuse = [&](const SourceLocation& where, const std::string& what, const std::string& help) {
    refusals.add(Error(ErrorKind::kUnsupported, where, what, help), where);
  };
  for (std::size_t i = 0; i < clients.size(); ++i)
    if (clients[i].role == Role::kInteractive && clients[i].command.is_restartable)
      refuse(scenario.clients[i].where, fmt::format("client `{}` has frames and is `restartable`", clients[i].name),
             "leave `restartable` out: a game that is killed in the middle of a frame can spoil the GPU");
  const auto is_unkillable = [](const ClientSpec& client) {
    return client.role == Role::kBestEffort && !client.command.is_restartable;
  };
  const auto unkillable = std::ranges::find_if(clients, is_unkillable);
  if (unkillable == clients.end()) return;
  for (const PolicyChoice& choice : scenario.policies)
    if (const auto& create = policies.find(choice.policy)->create; create && create(choice.parameters)->kills())
      refuse(choice.where,
             fmt::format("policy `{}` kills best-effort clients that are late, and the program of client `{}` may not "
                         "be started again",
                         choice.label, unkillable->name),
             fmt::format("add `restartable: true` to client `{}`: a kill then ends its processes and starts its "
                         "command again",
                         unkillable->name));
}

}  // namespace corun
