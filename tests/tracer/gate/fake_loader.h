#pragma once

#include <map>
#include <set>
#include <string>

namespace corun::testing {

/// What a gate asks the loader (tracer/preload/scopes.h), as a test says; the newest one counts. Without one, the
/// newest GateDriver is libcuda.so.1.
class FakeLoader {
 public:
  FakeLoader();
  ~FakeLoader();
  FakeLoader(const FakeLoader&) = delete;
  FakeLoader& operator=(const FakeLoader&) = delete;

  std::map<std::string, void*> global, of_caller, in_driver;  ///< functions by the scope in which they are found
  std::map<std::string, void*> by_dlsym;
  std::set<const void*> ours;       ///< functions of this library
  std::set<const void*> strangers;  ///< that are in another object than all others
  std::set<const void*> kept;       ///< that were to be kept loaded
  bool has_dlsym = true;
};

/// Our function of this name, which goes by it in front of the driver's.
void* our_function(const std::string& name);

}  // namespace corun::testing
