#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "sim/arbiter/arbiter.h"
#include "sim/live/client/live_client.h"
#include "sim/run/client_views.h"
#include "tests/fuzz/harness.h"
#include "tracer/gate/channel/word.h"

namespace corun::fuzz {
namespace {

using namespace gate;

/// Opens and closes the gate as the input says.
class Scripted : public Policy {
 public:
  explicit Scripted(Numbers& numbers) : numbers_(numbers) {}
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (const std::uint8_t wish = numbers_.byte(); wish % 3 == 0) {
        actions.open(client.id);
      } else if (wish % 3 == 1) {
        actions.close(client.id);
      } else {
        actions.close(client.id);
        actions.admit(client.id, std::min<std::uint32_t>(wish % 7, static_cast<std::uint32_t>(client.waiting.size())));
      }
    }
  }

 private:
  Numbers& numbers_;
};

/// A scheduler with one client, whose memory any program may have written.
class Scheduler : public Backend {
 public:
  explicit Scheduler(Numbers& numbers) : numbers_(numbers), policy_(numbers) {
    ClientSpec spec;
    spec.name = "guest";
    spec.workload = std::make_shared<const Workload>();
    input_.clients = {spec};
    void* memory = mmap(nullptr, sizeof(Lane), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    promise(memory != MAP_FAILED, "memory can be had");
    lane_ = static_cast<Lane*>(memory);
    lane_->gate = closed_word(0, 0);
    arbiter_ =
        std::make_unique<Arbiter>(policy_, "scripted", device_view(input_.device), client_views(input_), *this, facts_);
    client_ =
        std::make_unique<live::LiveClient>(ClientId{0}, input_.clients[0], *lane_, *arbiter_, use_, clock_, facts_);
    arbiter_->join(ClientId{0});
  }
  ~Scheduler() override { munmap(lane_, sizeof(Lane)); }

  /// The memory is written to, and read, in turns. A client that wrote what no gate writes is read no more.
  void run() {
    while (!numbers_.is_empty() && client_->fault().empty()) {
      write();
      client_->poll();
      arbiter_->decide();
      client_->follow();
      client_->wake_admitted();
      if (numbers_.byte() % 16 == 0) client_->reap_dead_processes();
    }
    client_->evict();
    arbiter_->leave(ClientId{0});
    arbiter_->finish();
  }

  Time now() const override { return clock_.now(); }
  void launch(ClientId, std::uint64_t number) override { client_->launch(number); }
  void set_quality(ClientId, std::uint32_t) override {}
  void shadow(ClientId, std::uint32_t) override {}
  void snapshot(ClientId) override {}
  void kill(ClientId) override {}
  void refuse(ClientId) override {}
  void prefetch(ClientId) override {}
  void control(const Action&) override {}
  void wake_at(Time) override {}
  void request_decision() override {}
  std::uint64_t resident_bytes(ClientId) const override { return 0; }
  std::uint64_t paged_bytes(ClientId) const override { return 0; }
  Duration device_time(ClientId) const override { return use_.of(ClientId{0}); }
  Duration device_busy() const override { return use_.busy(); }

 private:
  void write() {
    switch (numbers_.byte() % 5) {
      case 0:
        return write_launch();
      case 1:
        return write_end();
      case 2:
        return write_frame();
      case 3:
        return write_name();
      default:
        return write_anywhere();
    }
  }

  std::uint64_t anything() {
    const std::uint64_t high = numbers_.word();
    return high << 32 | numbers_.word();
  }
  /// Mostly what a gate would write, now and then anything.
  std::uint64_t mostly(std::uint64_t usual) { return numbers_.byte() % 8 == 0 ? anything() : usual; }
  std::int64_t moment() { return static_cast<std::int64_t>(mostly(executor::WallClock::monotonic_ns())); }

  void write_launch() {
    const std::uint64_t number = lane_->gate.fetch_add(1) & kNumbers;
    Launch& launch = lane_->launches[number % kDepth];
    launch.submitted_ns = moment();
    launch.kind = static_cast<LaunchKind>(mostly(numbers_.byte() % 6));
    launch.name = static_cast<std::uint32_t>(mostly(numbers_.byte() % 4));
    launch.stream = numbers_.byte();
    launch.blocks = mostly(1), launch.bytes = mostly(1);
    launch.slot = static_cast<std::uint32_t>(mostly(0));
    launch.ready = mostly(number + 1);
  }
  void write_end() {
    lane_->slots_used = static_cast<std::uint32_t>(mostly(1));
    Slot& slot = lane_->slots[0];
    const std::uint64_t number = mostly(numbers_.byte()), count = slot.done_count;
    Launch& launch = lane_->launches[number % kDepth];
    launch.end_ns = moment();
    launch.device_ns = static_cast<std::int64_t>(mostly(1000));
    launch.group = static_cast<std::uint32_t>(mostly(1 + numbers_.byte() % 3));
    slot.done[count % kDepth] = number;
    slot.done_count = mostly(count + 1);
  }
  void write_frame() {
    const std::uint64_t place = lane_->frame_count;
    gate::FrameRecord& record = lane_->frames[place % kFrameDepth];
    record.number = mostly(place / 3);
    record.moment = static_cast<FrameMoment>(mostly(place % 3));
    record.at_ns = moment();
    record.gpu_end_ns = moment();
    record.gpu_busy_ns = static_cast<std::int64_t>(mostly(1000));
    record.ready = mostly(place + 1);
    lane_->frame_count = mostly(place + 1);
  }
  void write_name() {
    const std::string_view text = numbers_.take(numbers_.byte() % 32);
    std::memcpy(lane_->name_text + numbers_.word() % (kNameBytes - 32), text.data(), text.size());
    lane_->name_at[numbers_.byte() % 8] = static_cast<std::uint32_t>(mostly(numbers_.byte()));
  }
  void write_anywhere() {
    const std::uint64_t value = anything(), at = numbers_.word() % (sizeof(Lane) - sizeof(value));
    std::memcpy(reinterpret_cast<char*>(lane_) + at, &value, sizeof(value));
  }

  Numbers& numbers_;
  Scripted policy_;
  RunInput input_;
  Recorder facts_;
  executor::WallClock clock_;
  live::DeviceUse use_{1, false};
  Lane* lane_ = nullptr;
  std::unique_ptr<Arbiter> arbiter_;
  std::unique_ptr<live::LiveClient> client_;
};

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::Numbers numbers(corun::fuzz::text_of(data, size).substr(0, 4096));
  corun::fuzz::Scheduler(numbers).run();
  return 0;
}
