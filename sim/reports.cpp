#include "sim/reports.h"

namespace corun {

void report_frame_begin(ClientId id, Client& client, Arbiter& arbiter, Time begin) {
  const std::uint64_t frame = client.submission(client.frame_awaiting_begin()).job;
  client.frame_begun(begin);
  arbiter.frame(id, FrameEvent::kBegin, FrameView{.number = frame, .scene = client.scene_of(frame)});
}

void report_completion(std::uint64_t number, const Completion& completion, Client& client, Arbiter& arbiter) {
  if (client.frame_awaiting_begin() == number) report_frame_begin(completion.client, client, arbiter, completion.begin);
  const bool ends_frame = client.completed(number, completion);
  arbiter.complete(completion.client, number, completion.device_time);
  if (!ends_frame) return;
  arbiter.frame(completion.client, FrameEvent::kEnd, client.last_frame());
  if (client.last_shadow()) arbiter.shadow(completion.client, *client.last_shadow());
}

}  // namespace corun
