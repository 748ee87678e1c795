#include "experiments/fit/fit_json.h"

#include "experiments/advise/figures/server_json.h"
#include "experiments/base/json.h"
#include "experiments/fit/fit_text.h"

namespace corun {

namespace {

void add_point(Json& json, const FitQuestion& question, const FitPoint& point) {
  json.object().field("sessions", point.sessions).field("holds", point.holds).field("may_hold", point.may_hold);
  add_spread(json, "fps_mean", point.fps);
  add_spread(json, "fps_mean_band", point.fps_band);
  add_spread(json, "fps_1low", point.low);
  add_spread(json, "frame_time_p99_ms", point.p99_ms);
  add_spread(json, "missed_frame_ratio", point.missed);
  add_spread(json, "quality_mean", point.quality);
  json.key("kept").object();
  for (std::size_t i = 0; i < point.kept.size(); ++i) add_spread(json, question.fillers[i].name.c_str(), point.kept[i]);
  json.end().key("kept_band").object();
  for (std::size_t i = 0; i < point.kept_band.size(); ++i)
    add_spread(json, question.fillers[i].name.c_str(), point.kept_band[i]);
  json.end();
  add_spread(json, "copies_kept", point.copies_kept);
  add_spread(json, "copies_kept_band", point.copies_band);
  json.field("surely_holds", point.surely_holds).key("servers").object();
  for (const auto& [server, share] : point.servers) {
    json.key(server).object();
    add_server(json, share);
    json.end();
  }
  json.end().end();
}

}  // namespace

std::string fit_json(const FitQuestion& question, const FitAnswer& answer) {
  Json json;
  json.object().field("schema_version", 1).field("text", fit_sentence(question, answer));
  json.field("fits", fits(answer)).field("fps", question.fps).field("has_unknown_draws", answer.has_unknown_draws);
  json.field("is_lower_bound", answer.is_lower_bound).field("has_slower_hosts", answer.has_slower_hosts);
  if (answer.own_fps) json.field("own_fps", *answer.own_fps);
  json.key("curves").array();
  for (const FitCurve& curve : answer.curves) {
    json.object().field("policy", curve.policy).field("has_fillers", curve.has_fillers);
    json.field("basis", to_string(curve.basis));
    json.field("refused", curve.refused).field("sessions", curve.sessions).field("surely", curve.surely);
    json.field("perhaps", curve.perhaps).key("points").array();
    for (const FitPoint& point : curve.points) add_point(json, question, point);
    json.end().end();
  }
  json.end().key("warnings").array();
  for (const std::string& warning : answer.warnings) json.value(warning);
  return json.end().end().text();
}

}  // namespace corun
