/// Adaptive nvshare - clients whose memory fits share the device as it serves them best; the others wait for a turn.
/// Source:      ours; it starts from nvshare (see nvshare.cpp), whose authors name automatic detection of thrashing as
///              future work.
/// Hears:       submissions, completions.      Needs: nothing.
/// Decides:     clients whose working sets fit together are resident together; who does not fit waits for their turn
///              to end, which is as long as the cost of bringing memory in asks for, and loads in bulk at its
///              beginning. Residents use the device at once or in short turns, whichever gave them more progress when
///              both were tried. Who leaves the device idle for as long as a change costs loses his turn.
/// Parameters:  see the descriptor below.
/// Departs:     1. nvshare's window of pending kernels is absent: turns are short against what a host can queue.
///              2. Working sets are taken as stated; where none is stated, what the client allocates counts.
///              3. Messages between clients and the daemon take no time.

#include <algorithm>

#include "policies/builtin.h"
#include "policies/nvshare/corun_chooser.h"
#include "policies/parts/residents.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

CoRunChooser::Choice choice_of(std::string_view name) {
  if (name == "turns") return CoRunChooser::Choice::kInTurns;
  return name == "together" ? CoRunChooser::Choice::kTogether : CoRunChooser::Choice::kMeasured;
}

class NvshareAdaptive : public Policy {
 public:
  explicit NvshareAdaptive(const Parameters& parameters)
      : prefetches_(parameters.boolean("prefetch")),
        residents_(Residents::Settings{.overhead = parameters.real("overhead"),
                                       .shortest_turn = parameters.duration("turn"),
                                       .longest_turn = parameters.duration("longest_turn"),
                                       .together = parameters.boolean("co_residency"),
                                       .thrash_bytes_per_s = parameters.real("thrash_rate") * 1e6}),
        company_(CoRunChooser::Settings{.choice = choice_of(parameters.choice("sharing")),
                                   .turn = parameters.duration("turn"),
                                   .idle_price = parameters.duration("idle_price"),
                                   .window = parameters.duration("window"),
                                   .retry = parameters.duration("retry"),
                                   .margin = parameters.real("margin")}) {}

  Hears hears() const override { return {.submitted = true, .launched = false, .completed = true, .frames = false}; }

  void on_completed(const GpuView& view, ClientId client, const OpView&, Duration) override {
    company_.completed(view, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    residents_.settle(view);
    company_.settle(view, residents_.members(), residents_.loading(view));
    for (const ClientId client : residents_.take_to_load())
      if (prefetches_) actions.prefetch(client);
    for (const ClientView& client : view.clients)
      if (client.is_present) set_gate(view, client, actions);
    actions.wake_at(residents_.next_look(view));
    actions.wake_at(company_.next_look(view));
  }

 private:
  void set_gate(const GpuView& view, const ClientView& client, Actions& actions) const {
    const bool is_resident = residents_.is_member(client.id) && !residents_.is_leaving();
    if (is_resident && company_.may_run(client.id)) return actions.open(client.id);
    actions.close(client.id);
    if (client.waiting.empty()) return;
    const auto loading = residents_.loading(view);
    if (is_resident && loading) {
      const ClientView& loaded = view.client(*loading);
      actions.hold(client.id, {"loading", static_cast<double>(loaded.working_set_bytes),
                               static_cast<double>(loaded.resident_bytes), "bytes"});
    } else if (is_resident) {
      actions.hold(client.id, {"turn", static_cast<double>(to_ns(company_.turn_left(view.now))), 0.0, "ns"});
    } else {
      actions.hold(client.id, {"memory", Residents::need(client), residents_.room(view), "bytes"});
    }
  }

  const bool prefetches_;
  Residents residents_;
  CoRunChooser company_;
};

std::vector<ParameterDescriptor> parameters() {
  constexpr double kMillisecond = 1e6;
  constexpr double kDay = 86'400e9;
  return {
      {.name = "overhead", .type = ParameterType::kReal, .default_value = 0.02, .unit = "", .minimum = 0.001,
       .maximum = 0.5, .choices = {},
       .meaning = "Share of a turn of residence that bringing memory in may take; the turn follows from it.",
       .source = "ours"},
      {.name = "longest_turn", .type = ParameterType::kDuration, .default_value = Duration{30s}, .unit = "",
       .minimum = kMillisecond, .maximum = kDay, .choices = {}, .meaning = "Longest turn of residence.",
       .source = "nvshare's quantum"},
      {.name = "turn", .type = ParameterType::kDuration, .default_value = Duration{50ms}, .unit = "",
       .minimum = kMillisecond, .maximum = kDay, .choices = {},
       .meaning = "Turn of one resident where residents take turns, and the shortest turn of residence.",
       .source = "ours: a change of context costs 0.35 % of it on an H200"},
      {.name = "idle_price", .type = ParameterType::kDuration, .default_value = Duration{350'000}, .unit = "",
       .minimum = 1e3, .maximum = kDay, .choices = {},
       .meaning = "A resident that leaves the device idle for this long passes its turn on.",
       .source = "ours: a change of context and back, measured on an H200"},
      {.name = "window", .type = ParameterType::kDuration, .default_value = Duration{500ms}, .unit = "",
       .minimum = kMillisecond, .maximum = kDay, .choices = {}, .meaning = "Length of one measurement of progress.",
       .source = "ours"},
      {.name = "retry", .type = ParameterType::kDuration, .default_value = Duration{30s}, .unit = "",
       .minimum = kMillisecond, .maximum = kDay, .choices = {},
       .meaning = "How long the way not taken is left alone before it is tried again, doubled each time.",
       .source = "ours"},
      {.name = "margin", .type = ParameterType::kReal, .default_value = 0.02, .unit = "", .minimum = 0.0,
       .maximum = 1.0, .choices = {},
       .meaning = "By how much the other way must be better to be taken.", .source = "ours"},
      {.name = "thrash_rate", .type = ParameterType::kReal, .default_value = 100.0, .unit = "MB/s", .minimum = 1.0,
       .maximum = 1e6, .choices = {},
       .meaning = "Paging beyond growth that shows that residents push one another's memory out.", .source = "ours"},
      {.name = "co_residency", .type = ParameterType::kBoolean, .default_value = true, .unit = "", .choices = {},
       .meaning = "Whether several clients may be resident at once.", .source = "ours"},
      {.name = "prefetch", .type = ParameterType::kBoolean, .default_value = true, .unit = "", .choices = {},
       .meaning = "Whether a client's memory is brought in in bulk when it becomes resident.", .source = "ours"},
      {.name = "sharing", .type = ParameterType::kChoice, .default_value = std::string("measured"), .unit = "",
       .choices = {"measured", "turns", "together"},
       .meaning = "How residents use the device: as measured, always in turns, or always at once.", .source = "ours"},
  };
}

}  // namespace

PolicyDescriptor nvshare_adaptive_policy() {
  PolicyDescriptor policy;
  policy.name = "nvshare_adaptive";
  policy.summary = "nvshare that shares where memory fits and sharing pays, and keeps turns where it does not.";
  policy.source = "ours, from nvshare (G. Alexopoulos, D. Mitropoulos, ICSE 2024 companion)";
  policy.deviations = {
      "nvshare's window of pending kernels is absent: turns are short against what a host can queue.",
      "Working sets are taken as stated; where none is stated, what the client allocates counts.",
      "Messages between clients and the daemon take no time.",
  };
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<NvshareAdaptive>(values); };
  return policy;
}

}  // namespace corun
