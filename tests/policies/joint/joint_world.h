#pragma once

#include "tests/policies/djay/djay_world.h"

namespace corun {

/// joint_harvest's defaults with some of them replaced.
inline Parameters joint_with(std::initializer_list<std::pair<std::string, ParameterValue>> values) {
  Parameters parameters = joint_harvest_policy().defaults();
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

/// Games as in a DjayWorld, and behind them fillers that have joined. On the fake device a filler slows nothing down:
/// what it gets is what the policy lets pass.
struct JointWorld : DjayWorld {
  JointWorld(const Parameters& parameters, std::size_t games,
             const std::vector<ClientView>& fillers = {fake_client("train")},
             const std::vector<QualityLevel>& menu = kDjayMenu)
      : DjayWorld(parameters, games, menu, joint_harvest_policy(), fillers), first_filler_(games) {
    for (std::size_t i = 0; i < fillers.size(); ++i) {
      set_depth(filler(i), 1000);
      join(filler(i));
    }
  }

  std::uint32_t filler(std::size_t i = 0) const { return static_cast<std::uint32_t>(first_filler_ + i); }

  /// Kernels, one after another and as predicted, for so much device time.
  void work(std::size_t i, Duration total, Duration kernel = std::chrono::microseconds{500}) {
    for (Duration given{}; given < total; given += kernel)
      script(filler(i), {.name = "k", .duration = kernel, .predicted = kernel, .predicted_by_shape = kernel});
  }

  /// Device time that the filler launched within the newest `frames` periods, as a part of them.
  double share(std::size_t i, int frames, Duration kernel = std::chrono::microseconds{500}) const {
    const Time since = now() - frames * kDjayPeriod;
    const auto launched = std::ranges::count_if(
        launches(), [&](const FakeLaunch& launch) { return launch.client.value == filler(i) && launch.time >= since; });
    return static_cast<double>(launched * kernel.count()) / static_cast<double>((frames * kDjayPeriod).count());
  }

 private:
  const std::size_t first_filler_;
};

}  // namespace corun
