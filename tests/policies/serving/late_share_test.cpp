#include "policies/serving/late_share.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace corun {
namespace {

TEST(LateShare, FallsWithALateRequestAndRisesWithOthers) {
  LateShare share(0.1, 0.5);
  EXPECT_DOUBLE_EQ(share.value(), 1.0);
  share.answered(true);
  EXPECT_DOUBLE_EQ(share.value(), 0.55);
  share.answered(false);
  EXPECT_DOUBLE_EQ(share.value(), 0.6);
}

TEST(LateShare, StandsStillWhereJustTheAllowedShareIsLate) {
  LateShare share(0.1, 0.2);
  share.answered(true);
  const double before = share.value();
  for (int request = 0; request < 10; ++request) share.answered(request == 0);
  EXPECT_NEAR(share.value(), before, 1e-12);
}

RC_GTEST_PROP(LateShare, BoundsLateRequestsWhateverComes, ()) {
  const double allowed = *rc::gen::element(0.01, 0.05, 0.2);
  const double gain = *rc::gen::element(0.01, 0.1, 0.5, 1.0);
  const auto wants_late = *rc::gen::container<std::vector<bool>>(400, rc::gen::arbitrary<bool>());
  LateShare share(allowed, gain);
  double late = 0, requests = 0;
  for (const bool wants : wants_late) {
    const bool is_late = wants && share.value() > 0;
    share.answered(is_late);
    late += is_late ? 1 : 0;
    RC_ASSERT(late <= allowed * ++requests + 1 + 1 / gain);
  }
}

RC_GTEST_PROP(LateShare, StaysBetweenNothingAndAll, ()) {
  LateShare share(0.05, *rc::gen::element(0.01, 1.0));
  for (const bool is_late : *rc::gen::arbitrary<std::vector<bool>>()) {
    share.answered(is_late);
    RC_ASSERT(share.value() >= 0.0 && share.value() <= 1.0);
  }
}

}  // namespace
}  // namespace corun
