// What a program is handed in place of the driver's functions, in each way in which it finds them.
#include "tracer/gate/handed_out.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>

#include "tests/tracer/gate/fake_loader.h"
#include "tracer/preload/dlsym_entry.h"

namespace corun {
namespace {

using testing::our_function;

class HandedOut : public ::testing::Test {
 protected:
  /// The driver's function of this name; another one for each.
  static void* theirs(const std::string& name) {
    static std::map<std::string, char> places;
    return &places[name];
  }
  /// What a program gets that asks cuGetProcAddress(), which answers with something that is no export.
  static std::string answered(const char* symbol, int version, std::uint64_t flags) {
    static std::deque<char> places;
    return name_of(gate::hand_out_for(symbol, version, flags, &places.emplace_back()));
  }
  /// Of a function of ours; "" for any other.
  static std::string name_of(const void* function) {
    for (const gate::DriverCall& call : gate::kDriverCalls)
      if (our_function(call.name) == function) return call.name;
    return "";
  }
  /// What a program gets by dlsym().
  static void* by_dlsym(const char* name, void* handle = nullptr) {
    return reinterpret_cast<void* (*)(void*, const char*)>(corun_choose_dlsym(handle, name))(handle, name);
  }

  testing::FakeLoader loader_;
};

TEST_F(HandedOut, EveryNameHasItsRow) {
  for (std::size_t row = 0; row < gate::kDriverCallCount; ++row)
    EXPECT_EQ(gate::row_of(gate::kDriverCalls[row].name), row);
  for (const char* name : {"", "c", "cu", "cuLaunch_", "cuLaunchKernel_v2", "xuInit", "cxInit", "dlsym"})
    EXPECT_EQ(gate::row_of(name), gate::kNoDriverCall) << name;
  EXPECT_EQ(gate::row_of(nullptr), gate::kNoDriverCall);
}

TEST_F(HandedOut, ADriverIsAskedByVersion) {
  EXPECT_EQ(answered("cuGetProcAddress", 11029, 0), "");
  EXPECT_EQ(answered("cuGetProcAddress", 11030, 0), "cuGetProcAddress") << "the version that brought it";
  EXPECT_EQ(answered("cuGetProcAddress", 11999, 0), "cuGetProcAddress");
  EXPECT_EQ(answered("cuGetProcAddress", 12000, 0), "cuGetProcAddress_v2") << "the newest that there was";
  EXPECT_EQ(answered("cuGetProcAddress", 13999, 0), "cuGetProcAddress_v2");
  EXPECT_EQ(answered("cuGetProcAddress", 14000, 0), "") << "a version that may have another one";
  EXPECT_EQ(answered("cuMemcpyBatchAsync", 12080, 0), "cuMemcpyBatchAsync");
  EXPECT_EQ(answered("cuMemcpyBatchAsync", 13000, 0), "cuMemcpyBatchAsync_v2");
}

TEST_F(HandedOut, TheVariantForStreamsOfThreadsIsAnsweredWhereItIsAskedFor) {
  EXPECT_EQ(answered("cuLaunchKernel", 12000, 0), "cuLaunchKernel");
  EXPECT_EQ(answered("cuLaunchKernel", 12000, 1), "cuLaunchKernel") << "that of the legacy stream";
  EXPECT_EQ(answered("cuLaunchKernel", 12000, 2), "cuLaunchKernel_ptsz");
  EXPECT_EQ(answered("cuLaunchKernel", 12000, 3), "cuLaunchKernel_ptsz");
  EXPECT_EQ(answered("cuLaunchKernel", 6999, 2), "cuLaunchKernel") << "before there was one";
  EXPECT_EQ(answered("cuMemcpyBatchAsync", 13000, 2), "cuMemcpyBatchAsync_v2_ptsz");
  EXPECT_EQ(answered("cuMemcpyHtoD", 12000, 2), "cuMemcpyHtoD_v2_ptds");
  EXPECT_EQ(answered("cuStreamSynchronize", 12000, 2), "cuStreamSynchronize_ptsz");
  EXPECT_EQ(answered("cuCtxDestroy", 12000, 2), "cuCtxDestroy_v2") << "which has none";
  EXPECT_EQ(answered("cuLaunchKernelEx", 11060, 2), "cuLaunchKernelEx_ptsz");
  EXPECT_EQ(answered("cuLaunchKernelEx", 11059, 2), "");
}

TEST_F(HandedOut, ASymbolIsNotTheBeginningOfAnother) {
  EXPECT_EQ(answered("cuMemcpy", 12000, 0), "cuMemcpy");
  EXPECT_EQ(answered("cuLaunch", 12000, 0), "cuLaunch");
  EXPECT_EQ(answered("cuMemset", 12000, 0), "");
  EXPECT_EQ(answered("cuEventRecord", 12000, 0), "") << "nothing of ours";
}

TEST_F(HandedOut, AGraphIsInstantiatedByTheNameOfItsVersion) {
  EXPECT_EQ(answered("cuGraphInstantiate", 10000, 0), "cuGraphInstantiate");
  EXPECT_EQ(answered("cuGraphInstantiate", 11000, 0), "cuGraphInstantiate_v2");
  EXPECT_EQ(answered("cuGraphInstantiate", 12000, 0), "cuGraphInstantiateWithFlags") << "renamed";
  EXPECT_EQ(answered("cuGraphInstantiateWithFlags", 12000, 0), "cuGraphInstantiateWithFlags");
}

TEST_F(HandedOut, AnAnswerThatIsAnExportIsKnownByItsName) {
  loader_.of_caller["cuLaunchKernel"] = theirs("cuLaunchKernel");
  loader_.of_caller["cuLaunchKernel_ptsz"] = theirs("cuLaunchKernel_ptsz");
  for (const int version : {3000, 12000, 15000}) {
    const auto name_for = [&](const char* name) {
      return name_of(gate::hand_out_for("cuLaunchKernel", version, 0, theirs(name)));
    };
    EXPECT_EQ(name_for("cuLaunchKernel"), "cuLaunchKernel") << version;
    EXPECT_EQ(name_for("cuLaunchKernel_ptsz"), "cuLaunchKernel_ptsz") << version;
  }
}

TEST_F(HandedOut, OursCallsTheFirstThatWasFoundAndASecondPassesAsItIs) {
  char first = 0, neighbour = 0, stranger = 0;
  loader_.strangers = {&stranger};
  const std::size_t row = gate::row_of("cuMemcpyAtoA_v2");
  EXPECT_EQ(gate::hand_out(row, &first), our_function("cuMemcpyAtoA_v2"));
  EXPECT_EQ(loader_.kept, (std::set<const void*>{&first}));
  EXPECT_EQ(gate::hand_out(row, &first), our_function("cuMemcpyAtoA_v2"));
  EXPECT_EQ(gate::hand_out(row, &neighbour), our_function("cuMemcpyAtoA_v2"));
  EXPECT_EQ(gate::hand_out(row, &stranger), &stranger);
  EXPECT_EQ(loader_.kept.size(), 1u);
  EXPECT_EQ(gate::find_behind(row, nullptr), &first);
  EXPECT_EQ(gate::hand_out(gate::kNoDriverCall, &neighbour), &neighbour) << "no function of ours";
  loader_.ours = {&neighbour};
  EXPECT_EQ(gate::hand_out(gate::row_of("cuMemcpyAtoH_v2"), &neighbour), &neighbour) << "it is ours already";
  EXPECT_EQ(gate::find_behind(gate::row_of("cuMemcpyAtoH_v2"), nullptr), nullptr);
}

/// Names that no other test finds: what is found once stays.
TEST_F(HandedOut, WhatIsBehindIsSoughtWhereALinkerWouldFindItThenInTheDriver) {
  const auto found = [&](const char* name) { return gate::find_behind(gate::row_of(name), nullptr); };
  char global = 0, of_caller = 0, in_driver = 0;
  EXPECT_EQ(found("cuMemsetD2D8_v2"), nullptr);
  for (const char* name : {"cuMemsetD2D8_v2", "cuMemsetD2D16_v2", "cuMemsetD2D32_v2"})
    loader_.in_driver[name] = &in_driver;
  for (const char* name : {"cuMemsetD2D8_v2", "cuMemsetD2D16_v2"}) loader_.of_caller[name] = &of_caller;
  loader_.global["cuMemsetD2D8_v2"] = &global;
  EXPECT_EQ(found("cuMemsetD2D8_v2"), &global);
  EXPECT_EQ(found("cuMemsetD2D16_v2"), &of_caller);
  EXPECT_EQ(found("cuMemsetD2D32_v2"), &in_driver);
  loader_.global.clear();
  EXPECT_EQ(found("cuMemsetD2D8_v2"), &global) << "as it was found first";
}

TEST_F(HandedOut, DlsymAnswersWithOursForWhatItFinds) {
  loader_.by_dlsym["cuStreamDestroy"] = theirs("cuStreamDestroy");
  loader_.by_dlsym["malloc"] = theirs("malloc");
  EXPECT_EQ(by_dlsym("cuStreamDestroy"), our_function("cuStreamDestroy"));
  EXPECT_EQ(by_dlsym("malloc"), theirs("malloc"));
  EXPECT_EQ(by_dlsym("cuCtxDestroy"), nullptr) << "a program without it finds none";
  EXPECT_EQ(by_dlsym("cuStreamDestroy", RTLD_NEXT), theirs("cuStreamDestroy")) << "what is behind the caller";
}

TEST_F(HandedOut, WhereDlsymFindsOursItIsWhatIsBehindThatCounts) {
  const char* const name = "cuStreamDestroy";
  loader_.by_dlsym[name] = our_function(name);
  loader_.ours = {our_function(name)};
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "corun_no_such_function"), nullptr);
  EXPECT_EQ(by_dlsym(name, RTLD_DEFAULT), nullptr) << "nothing is behind ours";
  EXPECT_NE(dlerror(), nullptr) << "which the program may ask for";
  loader_.of_caller[name] = theirs(name);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "corun_no_such_function"), nullptr);
  EXPECT_EQ(by_dlsym(name, RTLD_DEFAULT), our_function(name));
  EXPECT_EQ(dlerror(), nullptr) << "of the search only";
  int handle = 0;
  EXPECT_EQ(by_dlsym(name, &handle), nullptr) << "a handle is no caller's scope";
  loader_.global[name] = theirs(name);
  EXPECT_EQ(by_dlsym(name, &handle), our_function(name));
}

TEST_F(HandedOut, WithoutATrueDlsymNothingIsFound) {
  loader_.by_dlsym["malloc"] = theirs("malloc");
  loader_.has_dlsym = false;
  EXPECT_EQ(by_dlsym("malloc"), nullptr);
  EXPECT_EQ(by_dlsym("cuLaunchKernel"), nullptr);
}

}  // namespace
}  // namespace corun
