#include "policies/joint/shares.h"

#include <algorithm>
#include <cmath>

#include "policies/parts/rendering.h"

namespace corun {

namespace {

constexpr double kEvenness = 1e-3;  // of a whole share's value: what the last part of it is worth less than the first
constexpr double kRounding = 1e-9;

Duration part_of(Duration whole, double part) {
  return Duration{std::llround(static_cast<double>(whole.count()) * part)};
}

}  // namespace

void FillerShares::joined(const GpuView& view, ClientId client) {
  fillers_.resize(view.clients.size());
  const auto weight = settings_.weights.find(view.client(client).name);
  fillers_[client.value] = {};
  fillers_[client.value].weight = settings_.weight * (weight == settings_.weights.end() ? 1.0 : weight->second);
}

void FillerShares::completed(ClientId filler, Duration device_time) {
  fillers_[filler.value].used += device_time;
  fillers_[filler.value].left -= device_time;
}

bool FillerShares::look(const GpuView& view, const PilotFish& gate) {
  const std::int64_t now = (view.now - kRunStart) / settings_.period;
  begin_periods(now - period_);
  period_ = now;
  bool is_other = false;
  for (const ClientView& client : view.clients) {
    if (client.id.value >= fillers_.size()) break;
    Filler& its = fillers_[client.id.value];
    its.has_waited |= is_filler(client) && !client.waiting.empty() && client.waiting.front().submitted < view.now;
    if (its.has_waited) its.content_uses.clear();
    const std::uint32_t steps = is_filler(client) && gate.fits_in_memory(client.id) ? useful_steps(its) : 0;
    is_other |= steps != its.steps;
    its.steps = steps;
    if (steps == 0) its.granted = Duration::zero();
  }
  return is_other;
}

void FillerShares::begin_periods(std::int64_t count) {
  if (count == 0) return;
  const auto noted = static_cast<std::size_t>(std::min<std::int64_t>(count, kPeriods));
  for (Filler& its : fillers_) {
    for (std::size_t i = 0; i < noted; ++i) {
      if (!its.has_waited) its.content_uses.push_back(its.used);
      if (its.content_uses.size() > kPeriods) its.content_uses.pop_front();
      its.used = Duration::zero();
      its.has_waited = false;
    }
    const Duration before = settings_.gives_spare ? std::max(its.left, Duration::zero()) : its.left;
    its.left = std::min(before + count * its.granted, its.granted);
  }
}

std::uint32_t FillerShares::useful_steps(const Filler& filler) const {
  if (filler.weight <= 0.0) return 0;
  const auto most = static_cast<std::uint32_t>(1.0 / settings_.step + kRounding);
  if (filler.content_uses.size() < kPeriods) return most;
  const Duration used = std::ranges::max(filler.content_uses);
  if (used == Duration::zero()) return 0;
  const double steps =
      static_cast<double>(used.count()) / static_cast<double>(settings_.period.count()) / settings_.step;
  return std::min(most, static_cast<std::uint32_t>(std::ceil(steps)) + 1);
}

std::vector<Menu> FillerShares::menus() const {
  std::vector<Menu> menus;
  for (const Filler& its : fillers_) {
    if (its.steps == 0) continue;
    Menu& menu = menus.emplace_back();
    for (std::uint32_t k = 0; k <= its.steps; ++k) {
      const double share = k * settings_.step;
      menu.push_back({part_of(settings_.period, share), its.weight * share * (1.0 - kEvenness * share)});
    }
  }
  return menus;
}

void FillerShares::grant(std::span<const std::uint32_t> items) {
  std::size_t menu = 0;
  for (Filler& its : fillers_)
    if (its.steps > 0 && menu < items.size()) its.granted = part_of(settings_.period, items[menu++] * settings_.step);
}

ShareRule::ShareRule(const FillerShares& shares, const PilotFish& gate, const GpuView& view)
    : shares_(shares), gate_(gate), left_(view.clients.size()), claims_(view.clients.size()) {
  for (const ClientView& client : view.clients) {
    if (!is_filler(client)) continue;
    left_[client.id.value] = shares.left(client.id) - gate.in_flight(client.id);
    claims_[client.id.value] = has_claim(client);
  }
}

bool ShareRule::has_claim(const ClientView& filler) const {
  return left_[filler.id.value] > Duration::zero() && !filler.waiting.empty() && gate_.fits_in_memory(filler.id);
}

Verdict ShareRule::judge(const ClientView& filler, const OpView& op) const {
  if (!op.is_kernel()) return Verdict::pass();
  const Duration left = left_[filler.id.value];
  if (left > Duration::zero()) return Verdict::pass();
  const bool is_spare = shares_.gives_spare() && std::ranges::count(claims_, true) == claims_[filler.id.value];
  if (is_spare) return Verdict::pass();
  const Duration predicted = std::max(gate_.predict(filler.id, op), Duration::zero());
  const bool comes_again = shares_.granted(filler.id) > Duration::zero();
  return {
      {"share", static_cast<double>(to_ns(predicted)), static_cast<double>(to_ns(std::max(left, Duration{}))), "ns"},
      comes_again ? shares_.next_period() : kNever};
}

void ShareRule::take(const ClientView& filler, const OpView& op) {
  if (op.is_kernel()) left_[filler.id.value] -= std::max(gate_.predict(filler.id, op), Duration::zero());
}

Duration ShareRule::sure(const GpuView& view, ClientId filler) const {
  const bool is_only_one = std::ranges::count_if(view.clients, is_filler) == 1;
  if (shares_.gives_spare() && is_only_one) return Duration::max();
  return std::max(left_[filler.value], Duration::zero());
}

}  // namespace corun
