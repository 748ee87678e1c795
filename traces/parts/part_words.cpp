#include "traces/parts/part_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace corun {
namespace {

using part::EndReason;
using part::LossReason;
using part::Source;

std::string_view to_string(Source source) {
  if (source == Source::kCuda) return "CUDA";
  if (source == Source::kGl) return "GL";
  return source == Source::kVulkan ? "Vulkan" : "unknown";
}

std::string sentence_on(const part::EndRecord& end) {
  switch (end.reason) {
    case EndReason::kExit:
    case EndReason::kWindow:
      return "";
    case EndReason::kMaxSize:
      return "the recording stopped at its largest size";
    case EndReason::kWriteFailed:
      return fmt::format("the recording stopped because it could not be written: {}",
                         std::strerror(static_cast<int>(end.detail)));
    case EndReason::kNoCupti:
      return "nothing of CUDA was recorded: libcupti was not found";
    case EndReason::kCuptiVersion:
      return fmt::format("nothing of CUDA was recorded: libcupti is of version {}, which this build does not know",
                         end.detail);
    case EndReason::kOtherSubscriber:
      return "nothing of CUDA was recorded: a profiler was attached, and only one is possible";
    case EndReason::kCuptiFailed:
      return fmt::format("CUPTI failed with error {}", end.detail);
    case EndReason::kNoQueries:
      return "the driver has no GPU timestamps: frames have no GPU times";
    case EndReason::kOutOfMemory:
      return "the program had no memory left for the recording";
    case EndReason::kOther:
      break;
  }
  return "the recording stopped early";
}

}  // namespace

std::string_view text_of(const PartContent& part, std::uint32_t id) {
  const auto found = part.texts.find(id);
  return found == part.texts.end() ? std::string_view{} : std::string_view{found->second};
}

std::string describe(const PartContent& part) {
  const std::string_view program = text_of(part, part.process.program);
  return fmt::format("{} (process {}, {})", program.empty() ? "a program" : program, part.process.process,
                     to_string(part.process.source));
}

std::string uuid_text(const part::DeviceRecord& device) {
  if (std::ranges::all_of(device.uuid, [](std::uint8_t byte) { return byte == 0; })) return "";
  std::string text = "GPU";
  for (std::size_t i = 0; i < std::size(device.uuid); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", device.uuid[i]);
  }
  return text;
}

std::string_view to_string(LossReason reason) {
  switch (reason) {
    case LossReason::kCuptiDropped:
      return "dropped by CUPTI, which had no buffer for it";
    case LossReason::kNoTime:
      return "recorded by CUPTI without a time";
    case LossReason::kRingFull:
      return "came faster than it could be written";
    case LossReason::kBadRecord:
      return "not understood";
    case LossReason::kNoQuery:
      return "visit without a free GPU query";
    case LossReason::kTooLarge:
      return "behind the largest size of the recording";
    case LossReason::kUnreported:
      return "launched, but not reported by CUPTI before the end";
    case LossReason::kWriteFailed:
      return "could not be written to the disk";
    case LossReason::kNoRoomForName:
      return "range with a name behind the most that are kept";
  }
  return "lost while capturing";
}

void leave_out(TimelineBuilder& builder, const PartContent& part, LossReason reason, std::string_view what) {
  builder.skip(to_string(reason), fmt::format("{}: a {}", describe(part), what));
}

std::string ending_of(const PartContent& part) {
  if (!part.damage.empty()) return fmt::format("{}: what follows is damaged or torn: {}", describe(part), part.damage);
  if (!part.end) return fmt::format("{}: did not end properly (killed): up to one second is missing", describe(part));
  const std::string sentence = sentence_on(*part.end);
  if (sentence.empty()) return "";
  const std::string_view more = text_of(part, part.end->text);
  return fmt::format("{}: {}{}{}", describe(part), sentence, more.empty() ? "" : ": ", more);
}

}  // namespace corun
