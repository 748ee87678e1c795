#include "policies/nvshare/corun_chooser.h"

#include <algorithm>

namespace corun {

namespace {

constexpr double kNewest = 0.5;   // weight of a window against all before it
constexpr int kMostRetries = 32;  // the retry interval grows to at most so many times the first

bool has_work(const ClientView& client) { return client.in_flight > 0 || !client.waiting.empty(); }

void blend(std::optional<double>& average, double newest) {
  average = average ? (1.0 - kNewest) * *average + kNewest * newest : newest;
}

}  // namespace

void CoRunChooser::completed(const GpuView& view, ClientId client) {
  counts_.resize(view.clients.size());
  ++counts_[client.value].finished;
}

void CoRunChooser::settle(const GpuView& view, std::span<const ClientId> members, std::optional<ClientId> loading) {
  counts_.resize(view.clients.size());
  if (!std::ranges::equal(members_, members)) {
    members_.assign(members.begin(), members.end());
    order_ = members_;
    if (holder_ && std::ranges::find(members_, *holder_) == members_.end()) holder_.reset();
    if (!holder_) is_passing_ = false;
    choose(view);
  }
  loading_ = loading;
  if (loading_) {
    window_began_ = kNever;
    turn_began_ = view.now;
    return;
  }
  if (window_began_ != kNever && view.now >= window_began_ + settings_.window) evaluate(view);
  take_turns(view);
  begin_window_if_settled(view);
}

bool CoRunChooser::may_run(ClientId client) const {
  if (loading_) return client == *loading_;
  if (mode_ == Mode::kTogether) return true;
  return holder_ == client && !is_passing_;
}

void CoRunChooser::begin(Mode mode, const GpuView& view) {
  mode_ = mode;
  window_began_ = kNever;
  is_passing_ = false;
  turn_began_ = view.now;
  idle_since_ = kNever;
}

void CoRunChooser::choose(const GpuView& view) {
  if (members_.size() < 2 || settings_.choice == Choice::kTogether) return begin(Mode::kTogether, view);
  if (settings_.choice == Choice::kInTurns) return begin(Mode::kInTurns, view);
  for (const ClientId member : members_) {
    if (counts_[member.value].alone_per_s >= 0 || !has_work(view.client(member))) continue;
    holder_ = member;
    return begin(Mode::kAlone, view);
  }
  std::vector<ClientId> key = members_;
  std::ranges::sort(key);
  begin(judge(view, measured_[key]), view);
}

CoRunChooser::Mode CoRunChooser::judge(const GpuView& view, Measured& measured) const {
  if (!measured.in_turns) return Mode::kInTurns;
  if (!measured.together && expected_together(view) <= *measured.in_turns * (1.0 + settings_.margin))
    return Mode::kInTurns;
  if (!measured.together) return Mode::kTogether;
  const bool prefers_turns = measured.preferred == Mode::kInTurns;
  const auto [kept, other] = prefers_turns ? std::pair(*measured.in_turns, *measured.together)
                                           : std::pair(*measured.together, *measured.in_turns);
  const Mode other_mode = prefers_turns ? Mode::kTogether : Mode::kInTurns;
  const bool is_first = measured.retry_at == kNever;
  if (other > kept * (1.0 + settings_.margin)) {
    measured.preferred = other_mode;
    measured.retry_after = settings_.retry;
    measured.retry_at = view.now + measured.retry_after;
  } else if (is_first || view.now >= measured.retry_at) {
    measured.retry_after =
        is_first ? settings_.retry : std::min(2 * measured.retry_after, kMostRetries * settings_.retry);
    measured.retry_at = view.now + measured.retry_after;
    if (!is_first) return other_mode;
  }
  return measured.preferred;
}

/// Progress together if the driver's round robin gives each the same share of the time that switching leaves, or what
/// it can use if that is less.
double CoRunChooser::expected_together(const GpuView& view) const {
  const Duration slice = view.device.time_slice;
  std::vector<double> busy;
  for (const ClientId member : members_)
    if (counts_[member.value].alone_per_s > 0) busy.push_back(counts_[member.value].alone_busy);
  if (slice == Duration::zero()) return static_cast<double>(busy.size());
  std::ranges::sort(busy);
  double left = to_seconds(slice) / to_seconds(slice + view.device.switch_cost);
  double progress = 0;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const double given = std::min(busy[i], left / static_cast<double>(busy.size() - i));
    progress += busy[i] > 0 ? given / busy[i] : 1.0;
    left -= given;
  }
  return progress;
}

void CoRunChooser::begin_window_if_settled(const GpuView& view) {
  if (window_began_ != kNever || members_.size() < 2 || is_passing_) return;
  for (const ClientId member : members_)
    if (!may_run(member) && view.client(member).in_flight > 0) return;
  window_began_ = view.now;
  for (const ClientId member : members_) {
    Count& count = counts_[member.value];
    count.at_begin = count.finished;
    count.paged_at_begin = view.client(member).paged_bytes;
    count.device_time_at_begin = view.client(member).device_time;
  }
}

/// The window is over. One in which memory was paged in is discarded.
void CoRunChooser::evaluate(const GpuView& view) {
  const Duration elapsed = view.now - window_began_;
  window_began_ = kNever;
  if (has_paged(view)) return;
  if (mode_ == Mode::kAlone) {
    Count& count = counts_[holder_->value];
    count.alone_per_s = static_cast<double>(count.finished - count.at_begin) / to_seconds(elapsed);
    count.alone_busy = to_seconds(view.client(*holder_).device_time - count.device_time_at_begin) / to_seconds(elapsed);
  } else if (settings_.choice == Choice::kMeasured) {
    std::vector<ClientId> key = members_;
    std::ranges::sort(key);
    Measured& measured = measured_[key];
    blend(mode_ == Mode::kInTurns ? measured.in_turns : measured.together, measured_progress(elapsed));
  }
  const Mode before = mode_;
  const bool was_passing = is_passing_;
  const auto [began, idle] = std::pair(turn_began_, idle_since_);
  choose(view);
  if (before != Mode::kInTurns || mode_ != before) return;
  is_passing_ = was_passing;  // a turn goes on
  turn_began_ = began;
  idle_since_ = idle;
}

bool CoRunChooser::has_paged(const GpuView& view) const {
  return std::ranges::any_of(members_, [&](ClientId member) {
    return view.client(member).paged_bytes > counts_[member.value].paged_at_begin;
  });
}

double CoRunChooser::measured_progress(Duration elapsed) const {
  double progress = 0;
  for (const ClientId member : members_) {
    const Count& count = counts_[member.value];
    if (count.alone_per_s <= 0) continue;
    progress += static_cast<double>(count.finished - count.at_begin) / to_seconds(elapsed) / count.alone_per_s;
  }
  return progress;
}

void CoRunChooser::take_turns(const GpuView& view) {
  if (mode_ != Mode::kInTurns) return;
  if (!holder_) find_first_holder(view);
  const ClientView& holder = view.client(*holder_);
  if (has_work(holder)) {
    idle_since_ = kNever;
  } else if (idle_since_ == kNever) {
    idle_since_ = view.now;
  }
  const bool is_over = view.now >= turn_began_ + settings_.turn;
  const bool is_wasted = idle_since_ != kNever && view.now >= idle_since_ + settings_.idle_price;
  if ((is_over || is_wasted) && others_want(view)) is_passing_ = true;
  if (is_passing_ && holder.in_flight == 0) pass_on(view);
}

/// A client with work in flight goes on.
void CoRunChooser::find_first_holder(const GpuView& view) {
  const auto runs = [&](ClientId member) { return view.client(member).in_flight > 0; };
  const auto waits = [&](ClientId member) { return !view.client(member).waiting.empty(); };
  auto first = std::ranges::find_if(order_, runs);
  if (first == order_.end()) first = std::ranges::find_if(order_, waits);
  holder_ = first == order_.end() ? order_.front() : *first;
  turn_began_ = view.now;
}

void CoRunChooser::pass_on(const GpuView& view) {
  std::erase(order_, *holder_);
  order_.push_back(*holder_);
  const auto next = std::ranges::find_if(order_, [&](ClientId each) { return !view.client(each).waiting.empty(); });
  if (next == order_.end()) return;
  holder_ = *next;
  is_passing_ = false;
  turn_began_ = view.now;
  idle_since_ = kNever;
}

bool CoRunChooser::others_want(const GpuView& view) const {
  return std::ranges::any_of(
      members_, [&](ClientId member) { return member != holder_ && !view.client(member).waiting.empty(); });
}

Duration CoRunChooser::turn_left(Time now) const {
  const Time end = mode_ == Mode::kAlone ? (window_began_ == kNever ? now : window_began_) + settings_.window
                                         : turn_began_ + settings_.turn;
  return std::max(Duration::zero(), end - now);
}

Time CoRunChooser::next_look(const GpuView& view) const {
  Time next = kNever;
  const auto consider = [&](Time when) { next = when > view.now ? std::min(next, when) : next; };
  const bool is_busy = std::ranges::any_of(members_, [&](ClientId each) { return has_work(view.client(each)); });
  if (members_.size() < 2 || !is_busy || loading_) return next;
  if (window_began_ != kNever && settings_.choice == Choice::kMeasured) consider(window_began_ + settings_.window);
  if (mode_ != Mode::kInTurns || is_passing_ || !others_want(view)) return next;
  consider(turn_began_ + settings_.turn);
  if (idle_since_ != kNever) consider(idle_since_ + settings_.idle_price);
  return next;
}

}  // namespace corun
