#include "experiments/advise/figures/server_json.h"

#include <array>

namespace corun {

void add_server(Json& json, const ServerShare& server) {
  constexpr std::array<std::string_view, 4> kStates = {"kept", "close", "in_doubt", "broken"};
  add_spread(json, "ttft_p99_ms", server.ttft.p99_ms);
  add_spread(json, "ttft_p99_band", server.ttft.band_ms);
  add_spread(json, "tpot_p99_ms", server.tpot.p99_ms);
  add_spread(json, "tpot_p99_band", server.tpot.band_ms);
  add_spread(json, "good_part", server.good);
  json.field("answered", server.answered).field("rejected", server.rejected).key("promises").array();
  for (const PromisedFigure* figure : {&server.ttft, &server.tpot}) {
    if (figure->most_ms <= 0) continue;
    json.object().field("figure", figure->name).field("most_ms", figure->most_ms);
    json.field("state", kStates[static_cast<std::size_t>(figure->state())]).end();
  }
  json.end();
}

}  // namespace corun
