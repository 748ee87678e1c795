#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/executor/execute.h"
#include "sim/executor/host/processors.h"
#include "tests/shapes/run_policy.h"
#include "tests/support/replay.h"
#include "traces/base/error.h"

namespace corun::testing {

using namespace std::chrono_literals;

/// Runs on a driver that is not one; see fake_libcuda.cpp for its settings.
class Execute : public ::testing::Test {
 protected:
  ~Execute() override { unsetenv("CORUN_FAKE_CUDA"); }

  static void tell_driver(const char* script) { setenv("CORUN_FAKE_CUDA", script, 1); }

  /// Jobs of `durations` on stream 0, the host waiting for each operation or only at the end of a job.
  static ClientSpec client(const char* name, const std::vector<Duration>& durations, bool waits = true) {
    Workload workload;
    workload.names = {"kernel"};
    append_job(workload, durations, 100us, 20us, waits);
    workload.ops.change([](WorkOp& op) { op.shape = {132, 1, 1, 256, 1, 1, 32, 0}; });
    ClientSpec spec;
    spec.name = name;
    spec.workload = std::make_shared<const Workload>(std::move(workload));
    return spec;
  }

  Facts run(std::vector<ClientSpec> clients, Duration horizon, std::string_view policy = "passthrough",
            const Settings& settings = {}) {
    Facts facts;
    run_into(facts, std::move(clients), horizon, policy, settings);
    return facts;
  }

  void run_into(Recorder& recorder, std::vector<ClientSpec> clients, Duration horizon,
                std::string_view policy = "passthrough", const Settings& settings = {}) {
    const auto rule = make_policy(policy, settings);
    input_ = RunInput{};
    input_.clients = std::move(clients);
    input_.policy = rule.get();
    input_.policy_name = policy;
    input_.horizon = horizon;
    result_ = executor::execute(input_, recorder, options_, report_);
  }

  std::string failure(std::vector<ClientSpec> clients, ErrorKind kind, std::string_view policy = "passthrough") {
    try {
      run(std::move(clients), 10s, policy);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    return "it went well";
  }

  executor::ExecuteOptions options_{
      .worker = CORUN_WORKER, .library = CORUN_FAKE_CUDA, .processors = {executor::kAnyProcessor}};
  executor::ExecuteReport report_;
  RunInput input_;
  RunResult result_;
};

/// A game that shows ten frames of 2 ms at 50 frames a second.
inline ClientSpec game(ClientSpec spec) {
  Workload workload = *spec.workload;
  workload.job_kind = JobKind::kFrame;
  workload.ops.change([](WorkOp& op) { op.kind = OpKind::kRender; });
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.role = Role::kInteractive;
  spec.repeat = 10;
  spec.pacing = {Pacing::Mode::kVsync, 20ms};
  return spec;
}

}  // namespace corun::testing
