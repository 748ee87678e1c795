#include "policies/limits/quotas.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

constexpr std::uint64_t kCard = 16'000'000'000;  // bytes

/// Clients "a", "b" and "c" of one card, and what the manager has given them.
struct Books {
  explicit Books(ByClient shares = {}, ByClient gibibytes = {}) : quotas(std::move(shares), std::move(gibibytes)) {
    device.memory_bytes = kCard;
    for (std::uint32_t i = 0; i < 3; ++i) {
      clients[i].id = ClientId{i};
      clients[i].name = std::string(1, static_cast<char>('a' + i));
    }
  }
  GpuView view() const { return {kRunStart, device, clients}; }
  void ask(std::uint32_t client, double share, std::uint64_t bytes = 0) {
    clients[client].requested_share = share;
    clients[client].requested_bytes = bytes;
  }
  const Quota& join(std::uint32_t client, double share, std::uint64_t bytes = 0) {
    ask(client, share, bytes);
    return quotas.join(view(), ClientId{client});
  }
  bool resize(std::uint32_t client, double share, std::uint64_t bytes = 0) {
    ask(client, share, bytes);
    return quotas.resize(view(), ClientId{client});
  }

  DeviceView device;
  std::vector<ClientView> clients = std::vector<ClientView>(3);
  Quotas quotas;
};

TEST(Quotas, ParameterGoesBeforeWhatTheOwnerAsksFor) {
  Books books({{"a", 0.5}}, {{"a", 2.0}});
  EXPECT_EQ(books.join(0, 0.2, 7).share, 0.5);
  EXPECT_EQ(books.quotas.of(ClientId{0}).bytes, 2.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(books.join(1, 0.2, 7).share, 0.2);
  EXPECT_EQ(books.quotas.of(ClientId{1}).bytes, 7.0);
}

TEST(Quotas, OwnerWhoAsksForNothingGetsNoLimitAndNoCap) {
  Books books;
  EXPECT_EQ(books.join(0, 0.0).share, std::nullopt);
  EXPECT_EQ(books.quotas.of(ClientId{0}).bytes, std::nullopt);
  EXPECT_FALSE(books.quotas.of(ClientId{0}).limits_compute());
  EXPECT_EQ(books.join(1, 0.001, 1).share, 0.001);
  EXPECT_EQ(books.quotas.of(ClientId{1}).bytes, 1.0);
}

TEST(Quotas, WholeCardIsNeitherLimitedNorCapped) {
  Books books;
  EXPECT_FALSE(books.join(0, 1.0, 7).limits_compute());
  EXPECT_EQ(books.quotas.of(ClientId{0}).bytes, std::nullopt);
  EXPECT_TRUE(books.join(1, 0.99, 7).limits_compute());
  EXPECT_EQ(books.quotas.of(ClientId{1}).bytes, 7.0);
}

TEST(Quotas, ResizeMayTakeAllThatTheOthersLeaveAndNoMore) {
  Books books;
  books.join(0, 0.1);
  books.join(1, 0.3);
  books.join(2, 0.2);
  EXPECT_FALSE(books.resize(0, 0.51));
  EXPECT_EQ(books.quotas.of(ClientId{0}).share, 0.1) << "nothing changes";
  EXPECT_TRUE(books.resize(0, 0.5));
  EXPECT_EQ(books.quotas.of(ClientId{0}).share, 0.5);
}

TEST(Quotas, SharesAreAddedInWholePercent) {
  Books books;
  books.join(0, 0.1);
  books.join(1, 0.334);
  books.join(2, 0.334);
  EXPECT_TRUE(books.resize(0, 0.344)) << "33, 33 and 34 percent";
  EXPECT_FALSE(books.resize(0, 0.346));
}

TEST(Quotas, NeighbourWithoutALimitTakesNothingOfTheCard) {
  Books books;
  books.join(0, 0.3, 1'000);
  books.join(1, 0.0);
  books.join(2, 0.6, 10'000'000'000);
  EXPECT_FALSE(books.resize(0, 0.5, 1'000)) << "110 percent";
  EXPECT_TRUE(books.resize(0, 0.4, 1'000));
  EXPECT_FALSE(books.resize(0, 0.4, 6'000'000'001));
  EXPECT_TRUE(books.resize(0, 0.4, 6'000'000'000));
}

TEST(Quotas, ClientThatAsksForNoMoreThanItHasIsNeverRefused) {
  Books books;
  books.join(0, 0.8, kCard);
  books.join(1, 0.8, kCard);  // placed there all the same
  EXPECT_TRUE(books.resize(0, 0.8, kCard));
  EXPECT_TRUE(books.resize(0, 0.5, kCard - 1));
  EXPECT_FALSE(books.resize(0, 0.51, kCard - 1));
  EXPECT_FALSE(books.resize(0, 0.5, kCard));
  EXPECT_TRUE(books.resize(0, 0.0)) << "to ask for no limit is to ask for nothing";
  EXPECT_TRUE(books.resize(0, 0.9, kCard)) << "less than the whole card that it had";
}

TEST(Quotas, ClientThatLeftGivesItsPartBack) {
  Books books;
  books.join(0, 0.3);
  books.join(1, 0.6);
  EXPECT_FALSE(books.resize(0, 0.5));
  books.quotas.leave(ClientId{1});
  EXPECT_TRUE(books.resize(0, 0.5));
}

TEST(Quotas, CardWhoseMemoryIsNotKnownRefusesNoMemory) {
  Books books;
  books.device.memory_bytes = 0;
  books.join(0, 0.3, 1);
  books.join(1, 0.3, kCard);
  EXPECT_TRUE(books.resize(0, 0.3, kCard));
  books.device.memory_bytes = 1;
  EXPECT_FALSE(books.resize(0, 0.3, kCard + 1));
}

}  // namespace
}  // namespace corun
