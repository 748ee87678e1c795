#include "policies/parts/residents.h"

#include <algorithm>
#include <utility>

namespace corun {

namespace {

// How often to look whether memory is in: no event reports it.
constexpr Duration kLoadingLook = std::chrono::milliseconds{10};
// What is brought in may push out another member, whose turn it is then; more often than twice each, they do not fit.
constexpr std::size_t kLoadsPerMember = 2;
constexpr Duration kFirstCrowdMemory = std::chrono::seconds{10};
constexpr Duration kLongestCrowdMemory = std::chrono::minutes{10};

bool has_work(const ClientView& client) { return client.in_flight > 0 || !client.waiting.empty(); }

/// A working set larger than the memory is as loaded as it gets when it fills it.
bool is_loaded(const ClientView& client, const DeviceView& device) {
  constexpr std::uint64_t kRounding = 4096;
  const std::uint64_t most = device.memory_bytes - std::min(device.memory_bytes, device.context_bytes);
  return client.resident_bytes + kRounding >= std::min(client.working_set_bytes, most);
}

/// All of the working set in bulk; as long as may be where the link is not known.
Duration time_to_load(const ClientView& client, const DeviceView& device, Duration unknown) {
  if (device.to_device_bytes_per_s == 0) return unknown;
  const double bytes_per_ns = static_cast<double>(device.to_device_bytes_per_s) * 1e-9;
  return Duration{static_cast<std::int64_t>(Residents::need(client) / bytes_per_ns)};
}

}  // namespace

double Residents::need(const ClientView& client) {
  return static_cast<double>(client.working_set_bytes > 0 ? client.working_set_bytes : client.allocated_bytes);
}

Duration Residents::turn_for(Duration cost, const Settings& settings) {
  const double ideal = static_cast<double>(cost.count()) * (1.0 + 1.0 / settings.overhead);
  const auto longest = static_cast<double>(settings.longest_turn.count());
  return std::max(settings.shortest_turn, Duration{static_cast<std::int64_t>(std::min(ideal, longest))});
}

bool Residents::is_member(ClientId client) const { return std::ranges::find(members_, client) != members_.end(); }

std::vector<ClientId> Residents::take_to_load() { return std::exchange(to_load_, {}); }

void Residents::settle(const GpuView& view) {
  update_queue(view);
  if (members_.size() > 1 && !is_leaving_ && loading_.empty()) avoid_thrash(view);
  // What there is to share has shrunk since the set was formed: loading its last member would never end.
  if (members_.size() > 1 && room(view) < 0) is_leaving_ = true;
  do {
    if (!is_leaving_) admit_all_that_fit(view);
  } while (end_turn_if_due(view));
}

void Residents::update_queue(const GpuView& view) {
  const auto is_gone = [&](ClientId client) { return !view.client(client).is_present; };
  std::erase_if(members_, is_gone);
  std::erase_if(queue_, is_gone);
  std::erase_if(to_load_, is_gone);
  std::erase_if(loading_, is_gone);
  for (const ClientView& client : view.clients) {
    const bool is_known = is_member(client.id) || std::ranges::find(queue_, client.id) != queue_.end();
    if (client.is_present && !client.waiting.empty() && !is_known) queue_.push_back(client.id);
  }
}

void Residents::avoid_thrash(const GpuView& view) {
  if (!thrash_.look(view, members_)) return;
  crowd_bytes_ = 0;
  for (const ClientId member : members_) crowd_bytes_ += need(view.client(member));
  crowd_memory_ = std::clamp(2 * crowd_memory_, kFirstCrowdMemory, kLongestCrowdMemory);
  crowd_forgotten_ = view.now + crowd_memory_;
  is_leaving_ = true;
  thrash_.forget();
}

double Residents::room(const GpuView& view) const {
  if (view.device.memory_bytes == 0 && crowd_bytes_ == 0) return 1e18;
  double room = view.device.memory_bytes == 0 ? 1e18 : static_cast<double>(view.device.memory_bytes);
  for (const ClientView& client : view.clients)
    if (client.is_present) room -= static_cast<double>(view.device.context_bytes);
  if (crowd_bytes_ > 0 && view.now < crowd_forgotten_) room = std::min(room, crowd_bytes_ - 1.0);
  for (const ClientId member : members_) room -= need(view.client(member));
  return room;
}

void Residents::admit_all_that_fit(const GpuView& view) {
  for (auto next = queue_.begin(); next != queue_.end();) {
    const bool fits = members_.empty() || (settings_.together && need(view.client(*next)) <= room(view));
    if (!fits) {
      ++next;
      continue;
    }
    const ClientId client = *next;
    next = queue_.erase(next);
    add(view, client);
  }
}

void Residents::add(const GpuView& view, ClientId client) {
  if (members_.empty()) {
    turn_began_ = view.now;
    cost_ = view.device.switch_cost;
    idle_since_ = kNever;
    loading_.clear();
    loads_left_ = 0;
  }
  members_.push_back(client);
  thrash_.forget();
  loads_left_ += kLoadsPerMember;
}

/// Of a set's coming in, as expected or, where it takes longer, as long as it has taken in this turn.
void Residents::update_cost(const GpuView& view) {
  if (loading(view)) cost_ = std::max(cost_, view.now - turn_began_);
  if (!is_scarce(view)) return;
  Duration expected{};
  for (const ClientId member : members_)
    expected += time_to_load(view.client(member), view.device, settings_.longest_turn);
  cost_ = std::max(cost_, expected);
}

void Residents::find_what_to_load(const GpuView& view) {
  std::erase_if(loading_, [&](ClientId client) { return is_loaded(view.client(client), view.device); });
  // Before anything is resident there is nothing to wait for, and where nothing ever is, the device does not count.
  const bool is_counted =
      std::ranges::any_of(view.clients, [](const ClientView& each) { return each.resident_bytes > 0; });
  if (is_leaving_ || !is_counted || !is_scarce(view)) return;
  for (const ClientId member : members_) {
    const bool is_due = !is_loaded(view.client(member), view.device) && has_work(view.client(member));
    if (!is_due || loads_left_ == 0 || std::ranges::find(loading_, member) != loading_.end()) continue;
    --loads_left_;
    loading_.push_back(member);
    to_load_.push_back(member);
  }
}

/// Whether the working sets of all present clients exceed the memory.
bool Residents::is_scarce(const GpuView& view) const {
  double all = 0;
  for (const ClientView& client : view.clients)
    if (client.is_present) all += need(client) + static_cast<double>(view.device.context_bytes);
  return view.device.memory_bytes > 0 && all > static_cast<double>(view.device.memory_bytes);
}

std::optional<ClientId> Residents::loading(const GpuView& view) const {
  const auto first = std::ranges::find_if(loading_, [&](ClientId client) { return has_work(view.client(client)); });
  return first == loading_.end() ? std::nullopt : std::optional(*first);
}

bool Residents::is_idle(const GpuView& view) const {
  return std::ranges::none_of(members_, [&](ClientId member) { return has_work(view.client(member)); });
}

/// True if the next set may be formed.
bool Residents::end_turn_if_due(const GpuView& view) {
  if (members_.empty()) return std::exchange(is_leaving_, false) && !queue_.empty();
  update_cost(view);
  find_what_to_load(view);
  if (!is_idle(view))
    idle_since_ = kNever;
  else if (idle_since_ == kNever)
    idle_since_ = view.now;
  const bool is_over = view.now >= turn_began_ + turn_for(cost_, settings_);
  // A wait as long as a change costs is at most twice the wait that was needed.
  const bool is_wasted = idle_since_ != kNever && view.now >= idle_since_ + cost_;
  if (!queue_.empty() && (is_over || is_wasted)) is_leaving_ = true;
  if (!is_leaving_) return false;
  for (const ClientId member : members_)
    if (view.client(member).in_flight > 0) return false;
  is_leaving_ = false;
  for (const ClientId member : std::exchange(members_, {}))
    if (!view.client(member).waiting.empty()) queue_.push_back(member);
  return !queue_.empty();
}

Time Residents::next_look(const GpuView& view) const {
  Time next = kNever;
  const auto consider = [&](Time when) { next = when > view.now ? std::min(next, when) : next; };
  if (is_leaving_ || members_.empty()) return next;
  if (!queue_.empty()) consider(turn_began_ + turn_for(cost_, settings_));
  if (!queue_.empty() && idle_since_ != kNever) consider(idle_since_ + cost_);
  if (members_.size() > 1 && loading_.empty() && !is_idle(view)) consider(thrash_.next_look(view.now));
  if (loading(view)) consider(view.now + kLoadingLook);
  return next;
}

}  // namespace corun
