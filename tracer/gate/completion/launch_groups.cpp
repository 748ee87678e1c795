#include "tracer/gate/completion/launch_groups.h"

#include <utility>

#include "tracer/gate/completion/stream_table.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

constexpr std::int64_t kBackToBackNs = 20'000;  // as between two launches of one group

}  // namespace

LaunchGroup* LaunchGroups::make(void* context) {
  for (LaunchGroup& group : groups_) {
    if (group.is_used || (group.begin != nullptr && group.context != context)) continue;
    const bool has_events = group.begin != nullptr || (driver_.event_create(&group.begin, 0) == Driver::kSuccess &&
                                                       driver_.event_create(&group.end, 0) == Driver::kSuccess);
    if (!has_events) {
      group.begin = nullptr;
      return nullptr;
    }
    group.context = context;
    group.stream = nullptr;
    group.count = 0;
    group.is_used = true;
    return &group;
  }
  return nullptr;
}

bool LaunchGroups::begin(LaunchGroup& group, LaunchGroup* last, const TrackedStream& stream) {
  group.opened_ns = guest::monotonic_ns();
  const bool is_back_to_back =
      last != nullptr && last->is_used && last->stream == &stream && group.opened_ns - last->closed_ns < kBackToBackNs;
  if (!is_back_to_back) return driver_.event_record(group.begin, stream.stream) == Driver::kSuccess;
  group.before = last;
  last->next = &group;
  return true;
}

void LaunchGroups::release(LaunchGroup& group) {
  if (group.next != nullptr) {
    std::swap(group.end, group.next->begin);
    group.next->before = nullptr;
  }
  if (group.before != nullptr) group.before->next = nullptr;
  group.before = group.next = nullptr;
  group.is_used = false;
}

void LaunchGroups::forget_context(const void* context) {
  for (LaunchGroup& group : groups_)
    if (group.context == context) group = {};
}

}  // namespace corun::gate
