#include "tracer/frames/frame_log.h"

namespace corun::guest {
namespace {

constexpr std::int64_t kPatienceNs = 600'000'000;
constexpr std::uint64_t kPatienceFrames = 200;

}  // namespace

bool FrameLog::start(part::Source source, std::uint32_t api_version) {
  if (is_started_) return is_recording();
  is_started_ = true;
  settings_ = read_settings();
  const bool is_asked_for = source == part::Source::kGl ? settings_.gl : settings_.vulkan;
  return is_asked_for && file_.open(settings_, source, part::Detail::kNone, api_version);
}

bool FrameLog::is_recording() const { return file_.is_open(); }

std::uint64_t FrameLog::begin_frame() { return __atomic_add_fetch(&frames_, 1, __ATOMIC_RELAXED); }

bool FrameLog::wants(std::uint64_t frame, std::int64_t now_ns) const {
  const bool is_in_frames = frame >= settings_.first_frame && frame <= settings_.last_frame;
  return is_in_frames && now_ns >= settings_.from_ns && now_ns <= settings_.until_ns;
}

std::uint32_t FrameLog::swapchain(const char* renderer, std::uint32_t width, std::uint32_t height,
                                  bool is_over_vulkan) {
  const std::uint32_t number = __atomic_add_fetch(&swapchains_, 1, __ATOMIC_RELAXED);
  file_.add(part::RecordType::kSwapchain,
            part::SwapchainRecord{{}, number, file_.text(renderer), width, height, is_over_vulkan ? 1u : 0u, 0});
  return number;
}

std::uint32_t FrameLog::queue() { return __atomic_add_fetch(&queues_, 1, __ATOMIC_RELAXED); }

void FrameLog::visit(const part::VisitRecord& visit) {
  if (wants(visit.frame, visit.submit_ns)) file_.add(part::RecordType::kVisit, visit);
}

void FrameLog::draw(const part::DrawRecord& draw) { file_.add(part::RecordType::kDraw, draw); }

void FrameLog::present(const part::FrameRecord& frame) {
  if (wants(frame.frame, frame.present_ns)) file_.add(part::RecordType::kFrame, frame);
  if (is_over(frame.frame, frame.present_ns)) file_.close_soon(part::EndReason::kWindow);
}

// Visits are handed in a little after their frame, when the GPU's clock has been read again.
bool FrameLog::is_over(std::uint64_t frame, std::int64_t now_ns) const {
  const bool is_late = now_ns > settings_.until_ns && now_ns - settings_.until_ns > kPatienceNs;
  return is_late || (frame > settings_.last_frame && frame - settings_.last_frame > kPatienceFrames);
}

void FrameLog::lost(part::LossReason reason, std::uint64_t count) { file_.lost(reason, count); }

void FrameLog::end(part::EndReason reason) { file_.close(reason); }

}  // namespace corun::guest
