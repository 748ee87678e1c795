#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/run.h"
#include "sim/workload/synthetic/synthetic.h"

namespace corun::testing {

inline ClientSpec small_client(std::string name, Workload workload) {
  ClientSpec spec;
  spec.name = std::move(name);
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.context.working_set_bytes = 3'000'000'000;
  spec.requested_share = 0.3;
  return spec;
}

inline ClientSpec small_game(std::uint64_t seed) {
  RandomStream random(seed, "game");
  const Duration period{16'667'000};
  ClientSpec spec = small_client("game", make_game(*game_profile("rdr2"), period, 40, random));
  spec.role = Role::kInteractive;
  spec.pacing = {.mode = Pacing::Mode::kVsync, .period = period};
  spec.quality_menu = {{"high", 1.0, 1.0}, {"low", 0.5, 0.8}};
  return spec;
}

/// A game, a training, requests, and a client whose kernels end at round times, so that much happens at one instant.
inline std::vector<ClientSpec> small_clients(std::uint64_t seed) {
  using namespace std::chrono_literals;
  RandomStream random(seed, "load");
  RequestProfile requests;
  requests.rate_per_s = 200;
  requests.service_mean = 700us;
  requests.kernels = 3;
  std::vector<ClientSpec> list{small_game(seed)};
  list.push_back(small_client("train", make_training(*training_profile("mobilenetv2"), 4, random)));
  list.push_back(small_client("serve", make_requests(requests, 200, random)));
  list.back().replay = Replay::kOpen;
  list.push_back(
      small_client("ties", make_kernels({.duration = 100us, .count = 50, .blocks = 20, .launch_gap = 100us})));
  list.back().arrival = 5ms;
  list.back().stay = 120ms;
  return list;
}

inline DeviceSpec small_device(Sharing sharing) {
  DeviceSpec spec;
  spec.sm_count = 80;
  spec.sharing = sharing;
  spec.memory_bytes = 16'000'000'000;
  spec.to_device_bytes_per_s = spec.from_device_bytes_per_s = 12'000'000'000;
  spec.context_create = std::chrono::milliseconds(1);
  return spec;
}

}  // namespace corun::testing
