#include "experiments/question/plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>

namespace corun {

namespace {

void check_file(const std::string& path) {
  if (path.find('/') == std::string::npos)
    throw Error(ErrorKind::kInput, {path}, "a plug-in is named by a path, and this has no `/`", "write ./" + path);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw_input({path}, "there is no such plug-in");
  if (!S_ISREG(status.st_mode)) throw_input({path}, "this is not a regular file");
  if ((status.st_mode & S_IWOTH) != 0)
    throw Error(ErrorKind::kInput, {path}, "everybody can write this plug-in", "chmod o-w " + path);
}

std::string last_failure() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

PolicyDescriptor load_policy_plugin(const std::string& path) {
  check_file(path);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw_input({path}, "this plug-in cannot be loaded: {}", last_failure());
  using Entry = const PolicyPlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kPolicyPluginEntry));
  if (entry == nullptr) throw_input({path}, "this library is no policy: it has no function `{}`", kPolicyPluginEntry);
  const PolicyPlugin* plugin = entry();
  if (plugin == nullptr) throw_input({path}, "`{}` returned nothing", kPolicyPluginEntry);
  if (plugin->abi != PolicyPlugin::kAbi || plugin->size != sizeof(PolicyPlugin))
    throw Error(ErrorKind::kUnsupported, {path},
                fmt::format("the plug-in was built for policy interface {} ({} bytes), this program has {} ({} bytes)",
                            plugin->abi, plugin->size, PolicyPlugin::kAbi, sizeof(PolicyPlugin)),
                "build it with the headers of this program");
  if (plugin->describe == nullptr) throw_input({path}, "the plug-in describes no policy");
  return plugin->describe();
}

}  // namespace corun
