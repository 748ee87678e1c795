#include "sim/serving/batch_former.h"

#include <algorithm>
#include <utility>

namespace corun {

bool BatchFormer::arrive(std::size_t request, std::uint32_t prompt, std::uint32_t output) {
  admit();
  if (limits_.max_queue > 0 && waiting_.size() >= limits_.max_queue) return false;
  waiting_.push_back({request, prompt, output});
  return true;
}

void BatchFormer::admit() {
  while (!waiting_.empty() && active_.size() < limits_.max_batch &&
         reserved_ + waiting_.front().tokens() <= limits_.kv_tokens) {
    reserved_ += waiting_.front().tokens();
    active_.push_back(waiting_.front());
    waiting_.pop_front();
  }
}

std::uint32_t BatchFormer::longest_decoded() const {
  std::uint32_t longest = 0;
  for (const Sequence& sequence : active_)
    if (sequence.is_read()) longest = std::max(longest, sequence.prompt + sequence.generated);
  return longest;
}

std::uint32_t BatchFormer::room_for_prompts(std::uint32_t decodes) const {
  if (decodes == 0 || limits_.batching == Batching::kPrefillFirst) return limits_.chunk;
  if (limits_.batching == Batching::kChunked) return is_decode_due_ ? 0 : limits_.chunk;
  return limits_.chunk > decodes ? limits_.chunk - decodes : 0;
}

bool BatchFormer::has_step(StepLoop loop) {
  admit();
  if (loop == StepLoop::kAll) return !is_idle();
  const bool wants_read = loop == StepLoop::kDecodes;
  return std::ranges::any_of(active_, [&](const Sequence& sequence) { return sequence.is_read() == wants_read; });
}

StepSize BatchFormer::begin_prompts(std::uint32_t room) {
  StepSize size{.kind = StepSize::Kind::kPrefill, .prompts = 0};
  std::uint64_t attended = 0;  // tokens before each token that is read, twice and without half a token each
  for (Sequence& sequence : active_) {
    if (room == 0 || size.prompts == limits_.prompts_per_step) break;
    if (sequence.is_read()) continue;
    sequence.reading = std::min(room, sequence.prompt - sequence.read);
    room -= sequence.reading;
    size.count += sequence.reading;
    ++size.prompts;
    attended += std::uint64_t{sequence.reading} * (2 * std::uint64_t{sequence.read} + sequence.reading);
  }
  if (size.count == 0) return size;
  const std::uint64_t of_each = attended / size.count;
  size.context = static_cast<std::uint32_t>(of_each > size.count ? (of_each - size.count) / 2 : 0);
  return size;
}

std::optional<StepSize> BatchFormer::begin_step(StepLoop loop) {
  admit();
  const auto read = static_cast<std::uint32_t>(std::ranges::count_if(active_, &Sequence::is_read));
  const std::uint32_t decodes = loop == StepLoop::kPrompts ? 0 : read;
  StepSize size = begin_prompts(loop == StepLoop::kDecodes ? 0 : room_for_prompts(decodes));
  const bool reads = size.count > 0;
  is_decode_due_ = reads;
  if (decodes == 0 || (reads && limits_.batching != Batching::kMixed))
    return reads ? std::optional(size) : std::nullopt;
  for (Sequence& sequence : active_) sequence.is_being_decoded = sequence.is_read();
  if (!reads) return StepSize{StepSize::Kind::kDecode, decodes, longest_decoded()};
  size.kind = StepSize::Kind::kMixed;
  size.decodes = decodes;
  size.decode_context = longest_decoded();
  return size;
}

std::optional<std::size_t> BatchFormer::oldest_unanswered() const {
  const auto read = std::ranges::find(active_, 0u, &Sequence::generated);
  if (read != active_.end()) return read->request;
  if (!waiting_.empty()) return waiting_.front().request;
  return std::nullopt;
}

std::uint64_t BatchFormer::decoded_context() const {
  std::uint64_t sum = 0;
  for (const Sequence& sequence : active_)
    if (sequence.is_read()) sum += sequence.prompt + sequence.generated;
  return sum;
}

void BatchFormer::give_token(Sequence& sequence, Progress& progress) {
  if (++sequence.generated == 1) progress.began.push_back(sequence.request);
  if (sequence.generated == sequence.output) progress.ended.push_back(sequence.request);
}

BatchFormer::Progress BatchFormer::end_step(StepLoop loop) {
  Progress progress;
  for (Sequence& sequence : active_)
    if (loop != StepLoop::kPrompts && std::exchange(sequence.is_being_decoded, false)) give_token(sequence, progress);
  for (Sequence& sequence : active_) {
    if (loop == StepLoop::kDecodes || sequence.reading == 0) continue;
    sequence.read += std::exchange(sequence.reading, 0);
    if (sequence.is_read()) give_token(sequence, progress);
  }
  std::erase_if(active_, [this](const Sequence& sequence) {
    const bool has_ended = sequence.is_read() && sequence.generated >= sequence.output;
    if (has_ended) reserved_ -= sequence.tokens();
    return has_ended;
  });
  return progress;
}

}  // namespace corun
