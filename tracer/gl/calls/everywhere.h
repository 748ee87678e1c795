#pragma once

namespace corun::gl {

/// The function of this name outside of this library, in the system's GL, else in whichever object has it. Any thread;
/// takes the loader's lock, and may leave something for dlerror().
void* find_anywhere(const char* name);

}  // namespace corun::gl
