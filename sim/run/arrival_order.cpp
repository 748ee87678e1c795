#include "sim/run/arrival_order.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "sim/engine/random.h"

namespace corun {

namespace {

/// Passes facts on, with clients numbered as they are listed.
class Renumbering : public Recorder {
 public:
  Renumbering(Recorder& recorder, const std::vector<ClientId>& listed) : recorder_(recorder), listed_(listed) {}

  void on_op(const OpFact& fact) override { recorder_.on_op(renumbered(fact)); }
  void on_job(const JobFact& fact) override { recorder_.on_job(renumbered(fact)); }
  void on_frame(const FrameFact& fact) override { recorder_.on_frame(renumbered(fact)); }
  void on_request(const RequestFact& fact) override { recorder_.on_request(renumbered(fact)); }
  void on_server_step(const ServerStepFact& fact) override { recorder_.on_server_step(renumbered(fact)); }
  void on_decision(const DecisionFact& fact) override {
    recorder_.on_decision(DecisionFact{fact.time, renumbered(fact.action)});
  }
  void on_hold(const HoldFact& fact) override { recorder_.on_hold(renumbered(fact)); }
  void on_refusal(const RefusalFact& fact) override { recorder_.on_refusal(renumbered(fact)); }
  void on_kill(const KillFact& fact) override { recorder_.on_kill(renumbered(fact)); }

 private:
  template <class Fact>
  Fact renumbered(Fact fact) const {
    fact.client = listed_[fact.client.value];
    return fact;
  }

  Recorder& recorder_;
  const std::vector<ClientId>& listed_;
};

template <class Value>
void put_back(std::vector<Value>& values, const std::vector<ClientId>& listed) {
  std::vector<Value> in_order = values;
  for (std::size_t i = 0; i < listed.size(); ++i) values[listed[i].value] = in_order[i];
}

}  // namespace

std::vector<ClientId> arrival_order(const RunInput& input) {
  std::vector<std::uint64_t> drawn;
  for (const ClientSpec& client : input.clients)
    drawn.push_back(RandomStream(input.seed, client.name + "/order").bits());
  std::vector<ClientId> order(input.clients.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = ClientId{i};
  const auto key = [&](ClientId id) {
    const ClientSpec& client = input.clients[id.value];
    return std::tuple(client.arrival, drawn[id.value], std::string_view(client.name));
  };
  std::ranges::stable_sort(order, {}, key);
  return order;
}

RunResult simulate_in_arrival_order(const RunInput& input, Recorder& recorder) {
  const std::vector<ClientId> order = arrival_order(input);
  RunInput ordered = input;
  for (std::size_t i = 0; i < order.size(); ++i) ordered.clients[i] = input.clients[order[i].value];
  Renumbering renumbering(recorder, order);
  RunResult result = simulate(ordered, renumbering);
  put_back(result.device_time, order);
  put_back(result.jobs_finished, order);
  return result;
}

}  // namespace corun
