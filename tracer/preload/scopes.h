#pragma once

/// Where the loader would have found a function, were this library not there. It looks in the global scope first (the
/// program, its libraries, what was opened with RTLD_GLOBAL), then in the scope of the caller: an object opened with
/// RTLD_LOCAL and the libraries that it links. A preloaded library stands in the global scope and so takes names away
/// from the second one.
///
/// What this library exports itself is never found. Any thread; takes the loader's lock, and may leave something for
/// dlerror().
namespace corun::preload {

using DlSym = void* (*)(void* handle, const char* name);
/// The C library's, or that of another library behind us that interposes it.
DlSym true_dlsym();

/// Behind us in the global scope.
void* find_in_global_scope(const char* name);
/// In the object that holds this address and in its libraries.
void* find_in_scope_of(const void* address, const char* name);
/// In the object of this file name and its libraries, if it is loaded.
void* find_in_object(const char* file, const char* name);

/// Whether one object holds both.
bool are_neighbours(const void* one, const void* other);
/// Whether this library holds it.
bool is_ours(const void* address);

/// Keeps the object of this function in memory from now on. The loader does so too for what it binds, as long as the
/// caller is there.
void keep_loaded(const void* function);

}  // namespace corun::preload
