#pragma once

#include <cstddef>

/// The way in: for every function of work_calls.h and hooked_calls.h there are kVariants stubs, small pieces of code
/// that behave as the function does. Stub 0 is what the library exports under the function's name.
///
/// A stub stands for one true function, whose address is in its slot. There are several because a process may hold
/// several functions of one name (the system's GL below another one that a program brought along), and a caller that
/// asked for one of them must end up there. The function behind stub 0 is found when it is called; where it depends on
/// the caller, that happens at every call and the slot stays as it was.
///
/// Stubs of work and pass calls ask the thread whether anything is to be done, and jump on to the true function with
/// arguments, stack and return address as they came. Stubs of hooked calls jump to their hook with the true function in
/// a register more. Neither needs a signature, and so neither can get one wrong.
namespace corun::gl {

inline constexpr int kVariants = 4;
inline constexpr std::size_t kStubBytes = 64;

extern "C" {
/// Stub `v` of name `i`, in the order of the three lists, begins at byte (i * kVariants + v) * kStubBytes.
extern char corun_gl_stubs[];
extern char corun_gl_stubs_end[];
/// Slot of that stub; null where it stands for nothing yet. Slot 0 of such a call points to code that resolves it until
/// then.
extern void* corun_gl_slots[];
/// Does nothing and returns 0: stands for a function that is not there.
void corun_gl_nothing();

/// Called by the stubs. `stub` is inside the one of the work or pass call.
void corun_gl_before_work(const void* stub);
void* corun_gl_resolve(std::size_t name, const void* caller);
}

inline bool is_stub(const void* function) {
  const char* at = static_cast<const char*>(function);
  return at >= corun_gl_stubs && at < corun_gl_stubs_end;
}

}  // namespace corun::gl
