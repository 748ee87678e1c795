// FakeLoader, and functions that go by the names of the driver's.
#include "tests/tracer/gate/fake_loader.h"

#include <atomic>

#include "tests/tracer/gate/gate_driver.h"
#include "tracer/gate/driver/driver_calls.h"
#include "tracer/preload/scopes.h"

#define OURS(name, ...) \
  int name() { return 0; }
extern "C" {
CORUN_DRIVER_CALLS(OURS)
}
#undef OURS

namespace corun::testing {

namespace {

std::atomic<FakeLoader*> newest_loader{nullptr};

void* find(const std::map<std::string, void*>& scope, const char* name) {
  const auto found = scope.find(name);
  return found == scope.end() ? nullptr : found->second;
}

void* by_dlsym(void*, const char* name) { return find(newest_loader.load()->by_dlsym, name); }

}  // namespace

FakeLoader::FakeLoader() { newest_loader = this; }
FakeLoader::~FakeLoader() { newest_loader = nullptr; }

void* our_function(const std::string& name) {
#define ROW(function, ...) {#function, reinterpret_cast<void*>(&::function)},
  static const std::map<std::string, void*> kAll = {CORUN_DRIVER_CALLS(ROW)};
#undef ROW
  return kAll.at(name);
}

}  // namespace corun::testing

namespace corun::preload {

using testing::newest_loader;

DlSym true_dlsym() { return newest_loader.load()->has_dlsym ? &testing::by_dlsym : nullptr; }
void* find_in_global_scope(const char* name) { return testing::find(newest_loader.load()->global, name); }
void* find_in_scope_of(const void*, const char* name) { return testing::find(newest_loader.load()->of_caller, name); }
void* find_in_object(const char* file, const char* name) {
  if (file != std::string("libcuda.so.1")) return nullptr;
  const testing::FakeLoader* loader = newest_loader;
  return loader == nullptr ? testing::found_in_driver(name) : testing::find(loader->in_driver, name);
}
bool are_neighbours(const void* one, const void* other) {
  const auto& strangers = newest_loader.load()->strangers;
  return strangers.contains(one) == strangers.contains(other);
}
bool is_ours(const void* address) { return newest_loader.load()->ours.contains(address); }
void keep_loaded(const void* function) { newest_loader.load()->kept.insert(function); }

}  // namespace corun::preload
