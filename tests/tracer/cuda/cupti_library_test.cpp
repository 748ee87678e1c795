#include "tracer/cuda/cupti_library.h"

#include <gtest/gtest.h>

namespace corun::cupti {
namespace {

constexpr Place kNowhere{"/nonexistent/libcupti.so.13"};

TEST(CuptiLibrary, NothingThereIsMissing) {
  Library library;
  const Place places[] = {{""}, kNowhere};
  EXPECT_EQ(load(places, library), LoadResult::kMissing);
  EXPECT_EQ(library.version, 0u);
}

TEST(CuptiLibrary, TheFirstOfTheRightVersionIsTaken) {
  Library library;
  const Place places[] = {kNowhere, {FAKE_CUPTI_OF_12}, {FAKE_CUPTI_WITHOUT_FLUSH}, {FAKE_CUPTI}};
  EXPECT_EQ(load(places, library), LoadResult::kLoaded);
  EXPECT_EQ(library.version, 130000u);
  EXPECT_NE(library.enable_and_dump, nullptr);
}

TEST(CuptiLibrary, OneOfAnotherMajorVersionIsRefusedAndNamed) {
  Library library;
  const Place places[] = {{FAKE_CUPTI_OF_12}};
  EXPECT_EQ(load(places, library), LoadResult::kWrongVersion);
  EXPECT_EQ(library.version, 120900u);
  EXPECT_EQ(library.subscribe, nullptr);
}

TEST(CuptiLibrary, OneWithoutANeededFunctionIsNone) {
  Library library;
  const Place places[] = {{FAKE_CUPTI_WITHOUT_FLUSH}};
  EXPECT_EQ(load(places, library), LoadResult::kMissing);
}

TEST(CuptiLibrary, OneWithoutTheNewerFunctionsWillDo) {
  Library library;
  const Place places[] = {{FAKE_CUPTI_WITHOUT_OPTIONAL}};
  EXPECT_EQ(load(places, library), LoadResult::kLoaded);
  EXPECT_NE(library.flush_all, nullptr);
  EXPECT_EQ(library.enable_and_dump, nullptr);
  EXPECT_EQ(library.get_stream_id, nullptr);
}

TEST(CuptiLibrary, TheOneThatTheProcessHasIsFoundByName) {
  Library first, second;
  const Place path[] = {{FAKE_CUPTI}};
  const Place name[] = {{"libcupti.so.13", true}};
  ASSERT_EQ(load(path, first), LoadResult::kLoaded);
  EXPECT_EQ(load(name, second), LoadResult::kLoaded);
}

}  // namespace
}  // namespace corun::cupti
