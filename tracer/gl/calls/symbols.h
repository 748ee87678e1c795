#pragma once

#include <cstddef>

/// Names and true functions behind the stubs (stubs.h).
///
/// A program gets at GL by linking, by dlsym() or by asking eglGetProcAddress; in each case it is handed a stub, whose
/// slot holds what it would have got without us. A program that links gets our export: the function behind it is the
/// one in the global scope, the same for all callers; where that has none, it is looked for in the scope of each call
/// (scopes.h). dlsym() with RTLD_NEXT is not answered but passed on untouched: there the caller's own place in the
/// order of libraries counts, and a library before us has our exports anyway. Any thread.
namespace corun::gl {

/// What to hand out in place of `found`, which a look-up of this name found: a stub that leads to it; `found` itself
/// where the name is none of ours or no stub is free. Where `found` is our own export and the global scope has nothing
/// behind it, it stands for what the scope of `asked` has; null where that has none, or `asked` is null.
void* wrap(const char* name, void* found, const void* asked);

/// The function of this name outside of this library, hooked or not; null where no library loaded so far has it.
void* find_true_function(const char* name);

/// The same, of the library that holds `function` where it has one.
void* find_beside(const void* function, const char* name);

/// Name of the function for which this stub stands; any address inside of it will do.
const char* name_of(const void* stub);
/// Whether that function is one of CORUN_GL_PASS_CALLS.
bool ends_pass(const void* stub);

}  // namespace corun::gl
