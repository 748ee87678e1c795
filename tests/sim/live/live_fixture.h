#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/executor/device_time/busy_time.h"
#include "sim/executor/host/wall_clock.h"
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
  void on_hold(const HoldFact& hold) override { holds.push_back(hold); }
  std::vector<OpFact> of(std::uint32_t client) const {
    std::vector<OpFact> found;
    std::ranges::copy_if(ops, std::back_inserter(found), [&](const OpFact& op) { return op.client.value == client; });
    return found;
  }
  std::vector<std::string> names;
  std::vector<HoldFact> holds;  ///< without their rules' names, which are the policy's
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

/// Largest number of operations that had been launched and not ended.
inline std::size_t most_at_once(const std::vector<OpFact>& ops) {
  std::multimap<Time, int> changes;  // ends before launches of the same instant
  for (const OpFact& op : ops) changes.emplace(op.end, -1);
  for (const OpFact& op : ops) changes.emplace(op.launched, 1);
  std::ptrdiff_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return static_cast<std::size_t>(most);
}

/// Device time in which operations of two clients ran at once.
inline Duration together(const LiveFacts& facts) {
  executor::BusyTime each[2], any;
  for (const OpFact& op : facts.ops) {
    each[op.client.value].add(op.begin, op.end);
    any.add(op.begin, op.end);
  }
  return each[0].total() + each[1].total() - any.total();
}

/// The same with clients that are lines of a shell.
class LiveShell : public Live {
 protected:
  LiveShell() : folder_((std::filesystem::temp_directory_path() / "corun-live-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder for a test");
  }
  ~LiveShell() override { std::filesystem::remove_all(folder_); }

  /// A shell's command, in which $APP is the program and $OUT a file of the client's.
  ClientSpec shell(const std::string& name, const std::string& line) const {
    ClientSpec spec = client(name, {});
    spec.command.words = {"sh", "-c", line};
    spec.command.environment = {"APP=" LIVE_APP, "FRAMES=" LIVE_FRAMES, "OUT=" + folder_ + "/" + name};
    return spec;
  }
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  /// What the client has written into its file.
  std::string output(const std::string& name) const {
    std::ifstream file(path_of(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void remove_output(const std::string& name) const { std::filesystem::remove(folder_ + "/" + name); }
  /// How often the client has written this.
  std::size_t count(const std::string& name, const std::string& text) const {
    const std::string said = output(name);
    std::size_t found = 0;
    for (std::size_t at = 0; (at = said.find(text, at)) != std::string::npos; at += text.size()) ++found;
    return found;
  }
  /// How long it took until the client had written this so often; `patience` if it has not by then.
  Duration await_output(const std::string& name, std::size_t times, const std::string& text, Duration patience) const {
    const executor::WallClock clock;
    while (count(name, text) < times && clock.elapsed() < patience) std::this_thread::sleep_for(1ms);
    return std::min(clock.elapsed(), patience);
  }

 private:
  std::string folder_;
};

}  // namespace corun
