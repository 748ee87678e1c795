#include <dlfcn.h>
#include <gtest/gtest.h>

#include "sim/policy/descriptor.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// The plug-in of policies/example. The library stays loaded: descriptors that came from it run its code.
const PolicyPlugin* load_example() {
  void* library = dlopen(CORUN_EXAMPLE_POLICY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  void* entry = dlsym(library, kPolicyPluginEntry);
  if (entry == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return reinterpret_cast<const PolicyPlugin* (*)()>(entry)();
}

TEST(Plugin, ExampleOutsideTheProjectIsLoadedAndSharesDeviceTimeEvenly) {
  const PolicyPlugin* plugin = load_example();
  ASSERT_NE(plugin, nullptr);
  ASSERT_EQ(plugin->abi, PolicyPlugin::kAbi);
  ASSERT_EQ(plugin->size, sizeof(PolicyPlugin));
  const PolicyDescriptor policy = plugin->describe();
  EXPECT_EQ(policy.name, "least_served");

  FakeBackend world(policy, policy.defaults(), {fake_client("a"), fake_client("b")});
  for (std::uint32_t i = 0; i < 2; ++i) {
    world.join(i);
    for (int n = 0; n < 1000; ++n) world.script(i, {.duration = i == 0 ? 3ms : 7ms});
  }
  world.run_until(kRunStart + 1s);
  const double first = to_seconds(world.device_time(ClientId{0}));
  const double second = to_seconds(world.device_time(ClientId{1}));
  EXPECT_NEAR(first, 0.5, 0.01);
  EXPECT_NEAR(second, 0.5, 0.01);
}

}  // namespace
}  // namespace corun
