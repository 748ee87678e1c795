#pragma once

namespace corun {

/// From now on a program that crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) first says on stderr which run the
/// crashing thread was doing, with its policy, seed and simulated time, and where to look. Then the signal takes the
/// course that it would have taken: a core dump, a sanitizer's report, a debugger.
///
/// The memory of a crashing program cannot be trusted, so nothing is allocated or formatted then: the text is that
/// which the run's WatchedRun prepared when it began. For programs, once, at their start.
void explain_crashes();

/// Gives this thread a stack of its own for that, without which an endless recursion would end without a word. Once a
/// thread is enough; a stack that it has already stays.
void prepare_thread_for_crashes();

}  // namespace corun
