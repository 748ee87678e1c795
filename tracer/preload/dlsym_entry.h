#pragma once

/// A library that compiles dlsym_entry.cpp exports dlsym(), which leads where corun_choose_dlsym() says: to a function
/// of its own for the names that it answers for, to the true one (scopes.h) for all others. Both are entered by a jump,
/// so that the return address is that of the caller, by which the C library answers for RTLD_NEXT.
extern "C" {
/// Defined by the library. Never null.
void* corun_choose_dlsym(void* handle, const char* name);
}
