// gl_host draw|flush PLUGIN...: has each plug-in do that, and knows nothing of GL.

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  for (int i = 2; i < count; ++i) {
    void* plugin = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return printf("%s\n", dlerror()), 3;
    reinterpret_cast<void (*)()>(dlsym(plugin, words[1]))();
  }
  return 9;
}
