#include "sim/serving/batch_former.h"

#include <algorithm>

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

BatchFormer::Sequence* BatchFormer::first_unread() {
  const auto found = std::ranges::find_if(active_, [](const Sequence& sequence) { return !sequence.is_read(); });
  return found == active_.end() ? nullptr : &*found;
}

std::uint32_t BatchFormer::longest_decoded() const {
  std::uint32_t longest = 0;
  for (const Sequence& sequence : active_)
    if (sequence.is_read()) longest = std::max(longest, sequence.prompt + sequence.generated);
  return longest;
}

std::uint32_t BatchFormer::room_for_prompt(std::uint32_t decodes) const {
  if (decodes == 0 || limits_.batching == Batching::kPrefillFirst) return limits_.chunk;
  if (limits_.batching == Batching::kChunked) return is_decode_due_ ? 0 : limits_.chunk;
  return limits_.chunk > decodes ? limits_.chunk - decodes : 0;
}

std::optional<StepSize> BatchFormer::begin_step() {
  admit();
  const auto decodes = static_cast<std::uint32_t>(std::ranges::count_if(active_, &Sequence::is_read));
  const Sequence* unread = first_unread();
  chunk_ = unread == nullptr ? 0 : std::min(room_for_prompt(decodes), unread->prompt - unread->read);
  decodes_ = decodes > 0 && (chunk_ == 0 || limits_.batching == Batching::kMixed);
  is_decode_due_ = chunk_ > 0;
  if (chunk_ > 0 && decodes_) return StepSize{StepSize::Kind::kMixed, chunk_, unread->read, decodes, longest_decoded()};
  if (chunk_ > 0) return StepSize{StepSize::Kind::kPrefill, chunk_, unread->read};
  if (!decodes_) return std::nullopt;
  return StepSize{StepSize::Kind::kDecode, decodes, longest_decoded()};
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

BatchFormer::Progress BatchFormer::end_step() {
  Progress progress;
  Sequence* const reading = chunk_ > 0 ? first_unread() : nullptr;
  if (decodes_)
    for (Sequence& sequence : active_)
      if (sequence.is_read()) give_token(sequence, progress);
  if (reading != nullptr) {
    reading->read += chunk_;
    if (reading->is_read()) give_token(*reading, progress);
  }
  std::erase_if(active_, [this](const Sequence& sequence) {
    const bool has_ended = sequence.is_read() && sequence.generated >= sequence.output;
    if (has_ended) reserved_ -= sequence.tokens();
    return has_ended;
  });
  return progress;
}

}  // namespace corun
