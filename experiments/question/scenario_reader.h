#pragma once

#include <set>
#include <string>

#include "experiments/question/experiment.h"
#include "experiments/question/written_experiment.h"

namespace corun {

/// Makes scenarios of what is written, with the values of the top level for what a scenario leaves out. What is wrong
/// goes to the diagnostics of `reader`. Refers to all that it is constructed with. One thread.
class ScenarioReader {
 public:
  /// Relative paths begin at `folder`. Policies of plug-ins are loaded into `policies`.
  ScenarioReader(std::string folder, const WrittenExperiment& top, PolicyRegistry& policies, ScalarReader& reader)
      : folder_(std::move(folder)), top_(top), policies_(policies), reader_(reader) {}

  Scenario read(const WrittenScenario& written, const Node& where);
  /// For when every scenario has been read: an expectation of the top level that applied nowhere is a mistake.
  void check_expectations();

 private:
  void read_cluster_of(const WrittenScenario& written, Scenario& out);
  void read_device_of(const WrittenScenario& written, const Node& where, Scenario& out);
  void read_gate(const Node& node, GateDelays& gate);
  void read_seeds(const Node& node, Scenario& out);
  void read_clients(const Node* node, const Node& where, Scenario& out);
  void add_client(const Node& item, ClientChoice client, Scenario& out);
  void read_policies(const Node* node, const Node& where, Scenario& out);
  void check_clients_of_parameters(const Scenario& scenario);
  /// Those of the top level hold for every scenario that has their policy and client.
  void read_expectations(const Node* node, Scenario& out, bool must_apply);
  void refuse_expectation(const Node& item);
  /// "no policy is called `pilotfsh`: did you mean `pilotfish`?", of the first name that is nowhere.
  std::string nearest_policy_and_client(const Node& item) const;
  void read_qos_of_clients(Scenario& out);

  std::string folder_;
  const WrittenExperiment& top_;
  PolicyRegistry& policies_;
  ScalarReader& reader_;
  std::set<const Node*> applied_;                       ///< expectations
  std::set<std::string> policies_read_, clients_read_;  ///< of all scenarios so far
};

}  // namespace corun
