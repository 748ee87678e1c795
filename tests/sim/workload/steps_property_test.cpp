#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "tests/sim/workload/program_script.h"

namespace corun {
namespace {

using testing::ProgramScript;
using testing::steps_in;
using testing::workload_of;

/// A step: first kernels, equal layers, last kernels; each kernel has a tile size in its name.
struct Program {
  std::vector<std::string> step;
  int steps = 0;
  enum class Closing { kWait, kPoll } closing = Closing::kWait;
};

Program any_program() {
  Program program;
  const int layers = *rc::gen::inRange(1, 8), parts = *rc::gen::inRange(2, 7);
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) program.step.push_back("first_" + std::string(1, 'a' + i));
  for (int layer = 0; layer < layers; ++layer)
    for (int part = 0; part < parts; ++part) program.step.push_back("layer_" + std::string(1, 'a' + part) + "_64x64");
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) program.step.push_back("last_" + std::string(1, 'a' + i));
  program.steps = *rc::gen::inRange(8, 40);
  program.closing = *rc::gen::element(Program::Closing::kWait, Program::Closing::kPoll);
  return program;
}

/// What happens to a program's records.
struct Changes {
  int lost_in_1000 = 0, renamed_in_1000 = 0, swapped_in_1000 = 0;
  int evaluation_every = 0;                          ///< steps; 0 = never
  std::size_t first_launch = 0, skipped_at_end = 0;  ///< what the recording misses
};

class Chance {
 public:
  bool happens(int in_1000) { return in_1000 > 0 && static_cast<int>(numbers_() % 1000) < in_1000; }

 private:
  std::mt19937 numbers_{*rc::gen::arbitrary<std::uint32_t>()};
};

void play_step(ProgramScript& script, std::vector<std::string> launches, const Changes& changes, Chance& chance) {
  for (std::size_t i = 0; i + 1 < launches.size(); ++i)
    if (chance.happens(changes.swapped_in_1000)) std::swap(launches[i], launches[i + 1]);
  for (std::string& name : launches) {
    if (chance.happens(changes.lost_in_1000)) continue;
    if (chance.happens(changes.renamed_in_1000))
      if (const std::size_t tile = name.find("64x64"); tile != std::string::npos) name.replace(tile, 5, "128x32");
    script.launch(name);
  }
}

void close(ProgramScript& script, const Program& program) {
  if (program.closing == Program::Closing::kWait) script.wait();
  script.pause(program.closing == Program::Closing::kWait ? 30 : 300);
}

std::size_t found(const Program& program, const Changes& changes) {
  ProgramScript script;
  Chance chance;
  for (int step = 0; step < program.steps; ++step) {
    std::vector<std::string> launches = program.step;
    if (step == 0)
      launches.erase(launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(changes.first_launch));
    const bool is_cut = step + 1 == program.steps && changes.skipped_at_end > 0;
    if (is_cut) launches.resize(launches.size() - changes.skipped_at_end);
    play_step(script, launches, changes, chance);
    if (is_cut) break;
    close(script, program);
    if (changes.evaluation_every > 0 && step % changes.evaluation_every == changes.evaluation_every - 1) {
      for (std::size_t i = 0; i < program.step.size() / 2; ++i)
        script.launch("evaluate_" + std::string(1, 'a' + i % 4));
      close(script, program);
    }
  }
  const Workload workload = workload_of(script);
  RC_LOG() << workload.finding.how << "\n";
  return steps_in(workload);
}

/// Of rounds that repeat exactly, those before and behind are left out, if they are few.
int nearly(int steps) { return steps * 85 / 100 - 3; }

void expect(std::size_t found, int least, int most) {
  RC_LOG() << "found " << found << ", expected " << least << " to " << most << "\n";
  RC_ASSERT(found >= static_cast<std::size_t>(least));
  RC_ASSERT(found <= static_cast<std::size_t>(most));
}

RC_GTEST_PROP(StepsOfAnyProgram, AreFoundOneByOne, ()) {
  const Program program = any_program();
  expect(found(program, {}), program.steps, program.steps);
}

RC_GTEST_PROP(StepsOfAnyProgram, AreFoundInAWindowThatBeginsAndEndsInTheMiddle, ()) {
  const Program program = any_program();
  const std::size_t last = program.step.size();
  const Changes changes{.first_launch = *rc::gen::inRange<std::size_t>(1, last),
                        .skipped_at_end = *rc::gen::inRange<std::size_t>(1, last)};
  expect(found(program, changes), program.steps - 2, program.steps);
}

RC_GTEST_PROP(StepsOfAnyProgram, AreFoundThoughSomeRecordsAreLost, ()) {
  const Program program = any_program();
  expect(found(program, {.lost_in_1000 = 20}), nearly(program.steps), program.steps);
}

RC_GTEST_PROP(StepsOfAnyProgram, AreFoundThoughLibrariesChooseOtherKernels, ()) {
  const Program program = any_program();
  expect(found(program, {.renamed_in_1000 = 200}), nearly(program.steps), program.steps);
}

RC_GTEST_PROP(StepsOfAnyProgram, AreFoundThoughLaunchesTakeTurnsDifferently, ()) {
  const Program program = any_program();
  expect(found(program, {.swapped_in_1000 = 20}), nearly(program.steps), program.steps);
}

RC_GTEST_PROP(StepsOfAnyProgram, AreFoundThoughAnEvaluationComesNowAndThen, ()) {
  Program program = any_program();
  program.steps += 20;
  expect(found(program, {.evaluation_every = 10}), nearly(program.steps), program.steps + program.steps / 10);
}

}  // namespace
}  // namespace corun
