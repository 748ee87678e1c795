#include <fmt/format.h>

#include <cstdio>

#include "tracer/record/checkup.h"
#include "tracer/record/host/terminal.h"
#include "tracer/record/options.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"

namespace corun::record {

namespace {

const char* name_of(FactState state) {
  if (state == FactState::kOk) return "ok";
  return state == FactState::kLimited ? "limited" : "missing";
}

std::string capturable(const Checkup& checkup) {
  std::string names;
  const auto add = [&](bool is_possible, const char* name) {
    if (is_possible) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add(checkup.has_cuda, "CUDA");
  add(checkup.has_gl, "frames of GL and EGL");
  add(checkup.has_vulkan, "frames of Vulkan");
  return names.empty() ? "nothing" : names;
}

std::string as_json(const Checkup& checkup) {
  std::string facts;
  for (const Fact& fact : checkup.facts)
    facts += fmt::format("{}{{\"name\":{},\"state\":\"{}\",\"finding\":{},\"help\":{}}}", facts.empty() ? "" : ",",
                         json_text(fact.name), name_of(fact.state), json_text(fact.finding), json_text(fact.help));
  return fmt::format("{{\"schema_version\":1,\"cuda\":{},\"gl\":{},\"vulkan\":{},\"facts\":[{}]}}\n", checkup.has_cuda,
                     checkup.has_gl, checkup.has_vulkan, facts);
}

std::string as_text(const Checkup& checkup) {
  std::string text;
  for (const Fact& fact : checkup.facts) {
    text += fmt::format("{:<8} {:<11} {}\n", name_of(fact.state), fact.name, printable(fact.finding));
    if (!fact.help.empty()) text += fmt::format("{:<20} {}\n", "", printable(fact.help));
  }
  return text + fmt::format("\ncan be captured here: {}\n", capturable(checkup));
}

}  // namespace

int doctor_command(const DoctorOptions& options) {
  const Checkup checkup = check_up();
  put_out(options.json ? as_json(checkup) : as_text(checkup));
  return checkup.has_any() ? 0 : static_cast<int>(ErrorKind::kUnsupported);
}

}  // namespace corun::record
