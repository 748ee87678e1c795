#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "policies/pilotfish/guarantee_choice.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"

namespace corun {

namespace {

struct GuaranteeOptions {
  GuaranteeCosts costs{.period = Duration{16'666'667}, .window = {}, .snapshot = {}, .restore = {}};
  std::vector<std::string> overruns;  ///< "1ms=0.2%": how often frames are overrun at a margin
  double most = 100.0;                ///< per cent of frames
};

OverrunRate overrun_rate(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto margin = parse_duration(text.substr(0, equals));
  const double rate = parse_real(text.substr(std::min(equals + 1, text.size()))).value_or(-1);
  if (!margin || *margin < Duration{0} || !(rate >= 0 && rate < 1))
    throw Error(ErrorKind::kInput, {},
                fmt::format("--overruns: found '{}', expected a margin and a part of frames", text),
                "for example 1ms=0.2%");
  return {*margin, rate};
}

void print_json(const std::vector<GuaranteeChoice>& choices, const GuaranteeChoice& best) {
  Json json;
  json.object().field("schema_version", 1).key("margins").array();
  for (const GuaranteeChoice& choice : choices)
    json.object()
        .field("margin_ns", to_ns(choice.overruns.margin))
        .field("overrun_ratio", choice.overruns.per_frame)
        .field("snapshot_every", choice.snapshot_every)
        .field("kept_ratio", choice.kept)
        .field("is_chosen", choice.overruns.margin == best.overruns.margin)
        .end();
  print_out("{}\n", json.end().end().text());
}

void print_table(const CommonOptions& common, const std::vector<GuaranteeChoice>& choices,
                 const GuaranteeChoice& best) {
  std::vector<std::vector<std::string>> rows = {{"margin", "frames overrun", "snapshot every", "kept of windows"}};
  for (const GuaranteeChoice& choice : choices)
    rows.push_back({format_duration(choice.overruns.margin), fmt::format("{:.3g} %", 100 * choice.overruns.per_frame),
                    choice.snapshot_every == 0 ? "never" : fmt::format("{} frames", choice.snapshot_every),
                    fmt::format("{:.1f} %", 100 * choice.kept)});
  print_out("{}\n- pilotfish: {{ guarantee: hard, margin: {}, snapshot_every: {} }}\n",
            aligned(rows, {0, 1, 2, 3}, common.out.table_width()), format_duration(best.overruns.margin),
            best.snapshot_every);
}

int policy_guarantee_command(const CommonOptions& common, const GuaranteeOptions& options) {
  std::vector<OverrunRate> margins;
  std::vector<GuaranteeChoice> choices;
  for (const std::string& text : options.overruns) {
    margins.push_back(overrun_rate(text));
    choices.push_back(choose_snapshots(options.costs, margins.back()));
  }
  const GuaranteeChoice best = choose_guarantee(options.costs, margins, options.most / 100);
  if (best.kept < 0)
    throw Error(ErrorKind::kInput, {},
                fmt::format("--most: at every margin more than {} % of frames are overrun", options.most),
                "state a larger margin with its overruns, or a larger bound");
  if (common.json) {
    print_json(choices, best);
  } else {
    print_table(common, choices, best);
  }
  return 0;
}

}  // namespace

void add_policy_guarantee(Commands& commands) {
  auto [command, options] = commands.add(
      "guarantee", "Choose margin and snapshots of pilotfish's hard guarantee together", &policy_guarantee_command);
  GuaranteeCosts& costs = options.costs;
  command.duration("--window", &costs.window, Duration{1}, "10ms", "Idle time of a frame that the filler gets")
      .required();
  command.duration("--snapshot", &costs.snapshot, Duration{0}, "80ms", "Until a snapshot is complete").required();
  command.duration("--restore", &costs.restore, Duration{0}, "580ms", "From a kill until the filler goes on")
      .required();
  command
      .option("--overruns", &options.overruns,
              "Part of frames that work outlasts if so much of each window is kept free (repeatable)")
      .required()
      .repeatable()
      .shows_value("MARGIN=PART");
  command.duration("--period", &costs.period, Duration{1}, "16.667ms", "From frame to frame").shows_default("16.667ms");
  command.option("--most", &options.most, "Most frames that may be overrun, in per cent")
      .range(0.0, 100.0)
      .shows_default("100");
}

}  // namespace corun
