#include "games/scene/drawing/screen.h"

#include <array>
#include <span>

#include "games/scene/world/failure.h"

namespace scene {

namespace {

using Devices = std::array<EGLDeviceEXT, 32>;

template <class Function>
Function extension(const Egl& egl, const char* name) {
  return reinterpret_cast<Function>(egl.GetProcAddress(name));
}

bool is_number_of(const Egl& egl, EGLDeviceEXT device, int number) {
  constexpr EGLint kCudaDevice = 0x323A;
  const auto attribute = extension<PFNEGLQUERYDEVICEATTRIBEXTPROC>(egl, "eglQueryDeviceAttribEXT");
  EGLAttrib found = -1;
  return attribute != nullptr && attribute(device, kCudaDevice, &found) != EGL_FALSE && found == number;
}

/// The device wanted; null where none was wanted and there is none.
EGLDeviceEXT choose_device(const Egl& egl, std::optional<int> wanted) {
  const auto query = extension<PFNEGLQUERYDEVICESEXTPROC>(egl, "eglQueryDevicesEXT");
  Devices devices{};
  EGLint count = 0;
  if (query == nullptr || query(devices.size(), devices.data(), &count) == EGL_FALSE) count = 0;
  const std::span found(devices.data(), static_cast<std::size_t>(count));
  for (EGLDeviceEXT device : found)
    if (is_number_of(egl, device, wanted.value_or(0))) return device;
  if (!wanted) return found.empty() ? EGL_NO_DEVICE_EXT : found.front();
  if (*wanted >= count)
    throw Failure(kUnsupported, "--device " + std::to_string(*wanted) + ": EGL offers " + std::to_string(count) +
                                    " devices, counted from 0; leave --device out to take the first");
  return found[static_cast<std::size_t>(*wanted)];
}

EGLDisplay initialized(const Egl& egl, EGLenum platform, void* native) {
  const auto get = extension<PFNEGLGETPLATFORMDISPLAYEXTPROC>(egl, "eglGetPlatformDisplayEXT");
  EGLDisplay display = get == nullptr ? EGL_NO_DISPLAY : get(platform, native, nullptr);
  const bool is_usable = display != EGL_NO_DISPLAY && egl.Initialize(display, nullptr, nullptr) != EGL_FALSE;
  return is_usable ? display : EGL_NO_DISPLAY;
}

EGLDisplay open_display(const Egl& egl, std::optional<int> wanted) {
  EGLDisplay display = EGL_NO_DISPLAY;
  if (EGLDeviceEXT device = choose_device(egl, wanted); device != EGL_NO_DEVICE_EXT)
    display = initialized(egl, EGL_PLATFORM_DEVICE_EXT, device);
  if (display == EGL_NO_DISPLAY && !wanted) display = initialized(egl, EGL_PLATFORM_SURFACELESS_MESA, nullptr);
  if (display == EGL_NO_DISPLAY)
    throw Failure(kUnsupported, "EGL opens no display without a screen; install the GPU's EGL driver, or libegl-mesa0");
  return display;
}

EGLSurface enter_context(const Egl& egl, EGLDisplay display, Size size) {
  const EGLint wanted[] = {EGL_SURFACE_TYPE,
                           EGL_PBUFFER_BIT,
                           EGL_RENDERABLE_TYPE,
                           EGL_OPENGL_BIT,
                           EGL_RED_SIZE,
                           8,
                           EGL_GREEN_SIZE,
                           8,
                           EGL_BLUE_SIZE,
                           8,
                           EGL_NONE};
  const EGLint buffer[] = {EGL_WIDTH, size.width, EGL_HEIGHT, size.height, EGL_NONE};
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  egl.BindAPI(EGL_OPENGL_API);
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (egl.ChooseConfig(display, wanted, &config, 1, &count) == EGL_FALSE || count == 0)
    throw Failure(kUnsupported, "EGL has no pixel buffers for OpenGL");
  EGLSurface surface = egl.CreatePbufferSurface(display, config, buffer);
  if (surface == EGL_NO_SURFACE)
    throw Failure(kUnsupported, "EGL makes no pixel buffer of " + to_string(size) + "; ask for a smaller --size");
  EGLContext context = egl.CreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT || egl.MakeCurrent(display, surface, surface, context) == EGL_FALSE)
    throw Failure(kUnsupported, "EGL makes no context of OpenGL 3.3 core");
  return surface;
}

}  // namespace

Screen::Screen(Size size, std::optional<int> device)
    : display_(open_display(egl_, device)), surface_(enter_context(egl_, display_, size)), gl_(egl_) {}

std::string Screen::renderer() const { return reinterpret_cast<const char*>(gl_.GetString(GL_RENDERER)); }

void Screen::show() const {
  // A pixel buffer has nothing to swap, so not every driver submits for it.
  gl_.Flush();
  egl_.SwapBuffers(display_, surface_);
}

}  // namespace scene
