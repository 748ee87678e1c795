#include "sim/run/invariant_checker.h"

#include <gtest/gtest.h>

#include <functional>

namespace corun {
namespace {

using namespace std::chrono_literals;

constexpr ClientId kClient{0};

DecisionFact decision(Time when, Action::Kind kind, std::uint32_t count = 0) {
  return {when, Action{kind, kClient, count}};
}

OpFact operation(std::uint64_t number, Time submitted, Time begin, Time end) {
  OpFact op;
  op.client = kClient;
  op.number = number;
  op.submitted = op.launched = submitted;
  op.begin = begin;
  op.end = end;
  op.device_time = end - begin;
  return op;
}

/// Books of one client whose gate was opened at the start and whose operation 0 was launched there.
struct Running {
  Recorder nobody;
  InvariantChecker books{1, nobody};
  Running() {
    books.on_decision(decision(kRunStart, Action::Kind::kOpen));
    books.submitted(kClient, 0, kRunStart);
    books.launched(kClient, 0, kRunStart);
  }
};

TEST(InvariantChecker, AreQuietAboutARunAsItShouldBe) {
  Running run;
  run.books.on_op(operation(0, kRunStart, kRunStart + 1ms, kRunStart + 2ms));
  run.books.on_decision(decision(kRunStart + 2ms, Action::Kind::kClose));
  run.books.submitted(kClient, 1, kRunStart + 3ms);
  run.books.on_decision(decision(kRunStart + 4ms, Action::Kind::kAdmit, 1));
  run.books.launched(kClient, 1, kRunStart + 4ms);
  run.books.on_op(operation(1, kRunStart + 4ms, kRunStart + 4ms, kRunStart + 5ms));
  run.books.left(kClient, kRunStart + 5ms);
}

/// What a run must not do, one thing each, and words of what is then said.
struct Wrong {
  const char* name;
  std::function<void(InvariantChecker&)> what;
  const char* said;
};

class InvariantCheckerDeathTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(InvariantCheckerDeathTest, NoticeIt) {
  EXPECT_DEATH(
      {
        Running run;
        GetParam().what(run.books);
      },
      GetParam().said);
}

const Wrong kWrongs[] = {
    {"a_time_that_goes_back",
     [](InvariantChecker& books) {
       books.on_decision(decision(kRunStart + 5ms, Action::Kind::kClose));
       books.on_decision(decision(kRunStart + 4ms, Action::Kind::kOpen));
     },
     "a fact of 4000000 ns after one of 5000000 ns"},
    {"a_number_that_is_submitted_twice", [](InvariantChecker& books) { books.submitted(kClient, 0, kRunStart); },
     "submits 0"},
    {"a_launch_before_its_submission", [](InvariantChecker& books) { books.launched(kClient, 1, kRunStart); },
     "launches 1"},
    {"a_launch_through_a_closed_gate",
     [](InvariantChecker& books) {
       books.on_decision(decision(kRunStart, Action::Kind::kClose));
       books.submitted(kClient, 1, kRunStart);
       books.launched(kClient, 1, kRunStart);
     },
     "through a closed gate"},
    {"one_launch_more_than_was_admitted",
     [](InvariantChecker& books) {
       books.on_decision(decision(kRunStart, Action::Kind::kClose));
       books.submitted(kClient, 1, kRunStart);
       books.submitted(kClient, 2, kRunStart);
       books.on_decision(decision(kRunStart, Action::Kind::kAdmit, 1));
       books.launched(kClient, 1, kRunStart);
       books.launched(kClient, 2, kRunStart);
     },
     "through a closed gate"},
    {"an_admission_that_nothing_follows",
     [](InvariantChecker& books) {
       books.on_decision(decision(kRunStart, Action::Kind::kClose));
       books.on_decision(decision(kRunStart, Action::Kind::kAdmit, 1));
       books.on_decision(decision(kRunStart + 1ms, Action::Kind::kOpen));
     },
     "was admitted 1 operations"},
    {"an_operation_that_completes_twice",
     [](InvariantChecker& books) {
       books.on_op(operation(0, kRunStart, kRunStart, kRunStart + 1ms));
       books.on_op(operation(0, kRunStart, kRunStart, kRunStart + 2ms));
     },
     "completes 0"},
    {"another_operation_that_completes_than_was_launched",
     [](InvariantChecker& books) {
       books.submitted(kClient, 1, kRunStart);
       books.launched(kClient, 1, kRunStart);
       books.on_op(operation(0, kRunStart, kRunStart, kRunStart + 1ms));
       books.on_op(operation(0, kRunStart, kRunStart, kRunStart + 2ms));
     },
     "the numbers differ"},
    {"an_operation_that_begins_before_its_launch",
     [](InvariantChecker& books) { books.on_op(operation(0, kRunStart + 2ms, kRunStart + 1ms, kRunStart + 3ms)); },
     "begun 1000000"},
    {"more_device_time_than_passed",
     [](InvariantChecker& books) {
       OpFact op = operation(0, kRunStart, kRunStart, kRunStart + 1ms);
       op.device_time = 2ms;
       books.on_op(op);
     },
     "2000000 ns of device time"},
    {"a_client_that_leaves_with_work", [](InvariantChecker& books) { books.left(kClient, kRunStart); },
     "leaves with 1"},
    {"jobs_out_of_order",
     [](InvariantChecker& books) {
       books.on_job({kClient, 1, kRunStart, kRunStart, kRunStart});
     },
     "ends job 1 after 0"},
    {"a_frame_that_is_shown_before_it_is_drawn",
     [](InvariantChecker& books) {
       FrameFact frame;
       frame.client = kClient;
       frame.start = frame.submit = frame.gpu_begin = kRunStart;
       frame.gpu_end = kRunStart + 2ms;
       frame.present = kRunStart + 1ms;
       books.on_frame(frame);
     },
     "shown 1000000 ns"},
};

INSTANTIATE_TEST_SUITE_P(, InvariantCheckerDeathTest, ::testing::ValuesIn(kWrongs),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace corun
