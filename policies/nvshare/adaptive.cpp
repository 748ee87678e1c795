/// Adaptive nvshare - clients whose memory fits share the device at once or in turns, whichever is faster.
/// Source:      ours; it starts from nvshare (see nvshare.cpp), whose authors name automatic detection of thrashing as
///              future work.
/// Hears:       submissions, completions.      Needs: nothing.
/// Decides:     clients whose working sets fit together are resident together; a client that does not fit waits for
///              the end of their turn, whose length follows from the cost of bringing memory in, and loads in bulk at
///              the start of its own. Residents use the device at once or in short turns, whichever gave them more
///              progress when both were tried. A client that leaves the device idle for as long as a change costs
///              loses its turn.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>

#include "policies/builtin.h"
#include "policies/nvshare/corun_chooser.h"
#include "policies/parts/residents.h"

namespace corun {

namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

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
        chooser_(CoRunChooser::Settings{.choice = choice_of(parameters.choice("sharing")),
                                        .turn = parameters.duration("turn"),
                                        .idle_price = parameters.duration("idle_price"),
                                        .window = parameters.duration("window"),
                                        .retry = parameters.duration("retry"),
                                        .margin = parameters.real("margin")}) {}

  Hears hears() const override { return {.submitted = true, .launched = false, .completed = true, .frames = false}; }

  void on_completed(const GpuView& view, ClientId client, const OpView&, Duration) override {
    chooser_.completed(view, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    residents_.settle(view);
    chooser_.settle(view, residents_.members(), residents_.loading(view));
    for (const ClientId client : residents_.take_to_load())
      if (prefetches_) actions.prefetch(client);
    for (const ClientView& client : view.clients)
      if (client.is_present) set_gate(view, client, actions);
    actions.wake_at(residents_.next_look(view));
    actions.wake_at(chooser_.next_look(view));
  }

 private:
  void set_gate(const GpuView& view, const ClientView& client, Actions& actions) const {
    const bool is_resident = residents_.is_member(client.id) && !residents_.is_leaving();
    if (is_resident && chooser_.may_run(client.id)) return actions.open(client.id);
    actions.close(client.id);
    if (client.waiting.empty()) return;
    const auto loading = residents_.loading(view);
    if (is_resident && loading) {
      const ClientView& loaded = view.client(*loading);
      actions.hold(client.id, {"loading", static_cast<double>(loaded.working_set_bytes),
                               static_cast<double>(loaded.resident_bytes), "bytes"});
    } else if (is_resident) {
      actions.hold(client.id, {"turn", static_cast<double>(to_ns(chooser_.turn_left(view.now))), 0.0, "ns"});
    } else {
      actions.hold(client.id, {"memory", Residents::need(client), residents_.room(view), "bytes"});
    }
  }

  const bool prefetches_;
  Residents residents_;
  CoRunChooser chooser_;
};

ParameterTable parameters() {
  ParameterTable table;
  table.real("overhead", 0.02)
      .range(0.001, 0.5)
      .means("Share of a turn of residence that bringing memory in may take; the turn follows from it.")
      .from("ours");
  table.duration("longest_turn", 30s).range(1ms, 24h).means("Longest turn of residence.").from("nvshare's quantum");
  table.duration("turn", 50ms)
      .range(1ms, 24h)
      .means("Turn of one resident where residents take turns, and the shortest turn of residence.")
      .from("ours: a change of context costs 0.35 % of it on an H200");
  table.duration("idle_price", 350us)
      .range(1us, 24h)
      .means("A resident that leaves the device idle for this long passes its turn on.")
      .from("ours: a change of context and back, measured on an H200");
  table.duration("window", 500ms).range(1ms, 24h).means("Length of one measurement of progress.").from("ours");
  table.duration("retry", 30s)
      .range(1ms, 24h)
      .means("How long the slower way of sharing is left alone before it is tried again, doubled each time.")
      .from("ours");
  table.real("margin", 0.02)
      .range(0.0, 1.0)
      .means("By how much the other way of sharing must be faster to be taken.")
      .from("ours");
  table.real("thrash_rate", 100.0)
      .range(1.0, 1e6, "MB/s")
      .means("Paging beyond growth that shows that residents push one another's memory out.")
      .from("ours");
  table.boolean("co_residency", true).means("Whether several clients may be resident at once.").from("ours");
  table.boolean("prefetch", true)
      .means("Whether a client's memory is brought in in bulk when it becomes resident.")
      .from("ours");
  table.choice("sharing", {"measured", "turns", "together"})
      .means("How residents use the device: as measured, always in turns, or always at once.")
      .from("ours");
  return table;
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
