#include "sim/executor/driver/graphics_driver.h"

#include <dlfcn.h>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr int kPlatformDevice = 0x313F, kPlatformSurfaceless = 0x31DD, kCudaDevice = 0x323A;
constexpr const char* kHelp = "frames on hardware need EGL and OpenGL 4.3 of the GPU's driver";

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::kUnsupported, {}, why, kHelp); }

/// Null where EGL offers none.
EglHandle choose_device(const GraphicsDriver& egl, int cuda_device) {
  using QueryDevices = unsigned (*)(int most, EglHandle* devices, int* count);
  using QueryAttribute = unsigned (*)(EglHandle device, int attribute, std::intptr_t* value);
  const auto query = reinterpret_cast<QueryDevices>(egl.get_proc_address("eglQueryDevicesEXT"));
  const auto attribute = reinterpret_cast<QueryAttribute>(egl.get_proc_address("eglQueryDeviceAttribEXT"));
  EglHandle devices[32] = {};
  int count = 0;
  if (query == nullptr || query(32, devices, &count) == 0 || count <= 0) return nullptr;
  for (int i = 0; attribute != nullptr && i < count; ++i) {
    std::intptr_t number = -1;
    if (attribute(devices[i], kCudaDevice, &number) != 0 && number == cuda_device) return devices[i];
  }
  return devices[0];
}

}  // namespace

GraphicsDriver::GraphicsDriver() {
  void* library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(fmt::format("no EGL: {}", dlerror()));
#define CORUN_EGL_FIND(name, exported, result, arguments)            \
  name = reinterpret_cast<decltype(name)>(dlsym(library, exported)); \
  if (name == nullptr) refuse(fmt::format("libEGL.so.1 has no {}", exported));
  CORUN_EGL_CALLS(CORUN_EGL_FIND)
#undef CORUN_EGL_FIND
}

EglHandle GraphicsDriver::open_display(int cuda_device) const {
  using GetPlatformDisplay = EglHandle (*)(unsigned platform, void* native, const int* attributes);
  const auto get = reinterpret_cast<GetPlatformDisplay>(get_proc_address("eglGetPlatformDisplayEXT"));
  if (get == nullptr) refuse("this EGL has no platforms");
  if (EglHandle device = choose_device(*this, cuda_device); device != nullptr) {
    EglHandle display = get(kPlatformDevice, device, nullptr);
    if (display != nullptr && initialize(display, nullptr, nullptr) != 0) return display;
  }
  EglHandle display = get(kPlatformSurfaceless, nullptr, nullptr);
  if (display == nullptr || initialize(display, nullptr, nullptr) == 0) refuse("EGL offers no device");
  return display;
}

void GraphicsDriver::find_gl() {
#define CORUN_GL_FIND(name, exported, result, arguments)               \
  name = reinterpret_cast<decltype(name)>(get_proc_address(exported)); \
  if (name == nullptr) refuse(fmt::format("this OpenGL has no {}", exported));
  CORUN_GL_CALLS(CORUN_GL_FIND)
#undef CORUN_GL_FIND
}

}  // namespace corun::executor
