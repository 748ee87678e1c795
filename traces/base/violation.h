#pragma once

#include <string>

namespace corun {

/// What a program does about a broken promise (CORUN_ASSERT) once it has been printed: write down what it was doing,
/// and end. If it returns, the program aborts, as it does without a handler.
///
/// Set by a program at its start, never by a library. The handler may be called on any thread, on several at a time.
using ViolationHandler = void (*)(const std::string& promise);
void set_violation_handler(ViolationHandler handler);

}  // namespace corun
