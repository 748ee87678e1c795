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

std::optional<StepSize> BatchFormer::begin_step() {
  admit();
  chunk_ = 0;
  const auto decoded = static_cast<std::uint32_t>(std::ranges::count_if(active_, &Sequence::is_read));
  const bool may_read = limits_.batching == Batching::kPrefillFirst || !is_decode_due_ || decoded == 0;
  if (const Sequence* unread = first_unread(); unread != nullptr && may_read) {
    chunk_ = std::min(limits_.chunk, unread->prompt - unread->read);
    is_decode_due_ = true;
    return StepSize{StepSize::Kind::kPrefill, chunk_, unread->read};
  }
  is_decode_due_ = false;
  if (decoded == 0) return std::nullopt;
  std::uint32_t longest = 0;
  for (const Sequence& sequence : active_)
    if (sequence.is_read()) longest = std::max(longest, sequence.prompt + sequence.generated);
  return StepSize{StepSize::Kind::kDecode, decoded, longest};
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
  if (chunk_ > 0) {
    Sequence& reading = *first_unread();
    reading.read += chunk_;
    if (reading.is_read()) give_token(reading, progress);
  } else {
    for (Sequence& sequence : active_)
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
