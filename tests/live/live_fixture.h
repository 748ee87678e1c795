#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sim/live/live.h"
#include "tests/shapes/run_policy.h"
#include "tests/support/replay.h"

namespace corun {

using namespace std::chrono_literals;

/// What a run leaves behind, names copied.
class LiveFacts : public testing::Facts {
 public:
  void on_op(const OpFact& op) override {
    names.emplace_back(op.name);
    Facts::on_op(op);
  }
  std::vector<OpFact> of(std::uint32_t client) const {
    std::vector<OpFact> found;
    std::ranges::copy_if(ops, std::back_inserter(found), [&](const OpFact& op) { return op.client.value == client; });
    return found;
  }
  std::vector<std::string> names;
};

/// One run with programs of a CUDA driver that is not one.
class Live : public ::testing::Test {
 protected:
  static ClientSpec client(const std::string& name, std::vector<std::string> words) {
    ClientSpec spec;
    spec.name = name;
    spec.workload = std::make_shared<const Workload>();
    words.insert(words.begin(), LIVE_APP);
    spec.command.words = std::move(words);
    return spec;
  }

  LiveFacts run(std::vector<ClientSpec> clients, Duration horizon, std::string_view policy = "passthrough",
                const testing::Settings& settings = {}) {
    const auto rule = testing::make_policy(policy, settings);
    input_ = RunInput{};
    input_.device.sm_count = 132;
    input_.device.max_threads_per_sm = 2048;
    input_.device.max_blocks_per_sm = 32;
    input_.clients = std::move(clients);
    input_.policy = rule.get();
    input_.policy_name = policy;
    input_.horizon = horizon;
    LiveFacts facts;
    result_ = live::run_live(input_, facts, options_, report_);
    return facts;
  }

  live::LiveOptions options_{.gate_library = CORUN_GATE_LIBRARY};
  live::LiveReport report_;
  RunInput input_;
  RunResult result_;
};

}  // namespace corun
