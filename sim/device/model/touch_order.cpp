#include "sim/device/model/touch_order.h"

#include <numeric>
#include <random>

namespace corun {

TouchOrder::TouchOrder(Access access, std::uint32_t blocks, ClientId client)
    : access_(access), blocks_(blocks), seed_(client.value) {}

std::uint32_t TouchOrder::block(std::uint64_t touch) {
  const std::uint64_t pass = touch / blocks_;
  const auto position = static_cast<std::uint32_t>(touch % blocks_);
  if (access_ == Access::kSequential) return position;
  if (access_ == Access::kSawtooth) return pass % 2 == 0 ? position : blocks_ - 1 - position;
  if (pass != drawn_pass_) draw(pass);
  return drawn_[position];
}

void TouchOrder::draw(std::uint64_t pass) {
  std::seed_seq seed{static_cast<std::uint64_t>(seed_), pass};
  std::mt19937_64 random(seed);
  drawn_.resize(blocks_);
  std::iota(drawn_.begin(), drawn_.end(), 0U);
  for (std::uint32_t left = blocks_; left > 1; --left) std::swap(drawn_[left - 1], drawn_[random() % left]);
  drawn_pass_ = pass;
}

}  // namespace corun
