#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

/// The standard streams of our programs. Either may be closed or full at any time: then work goes on, and the exit code
/// says what was lost.
namespace corun {

/// To be called first, before any file is opened: a standard stream that is closed becomes one that cannot be used, so
/// that no file of ours gets its number, and what is meant for it.
void keep_standard_streams();

/// Writes to standard output. What cannot be written is kept in mind for finish_output().
void put_out(std::string_view text);
/// Writes to standard error, for a reader who may not be there: a failure is none of the program's.
void put_err(std::string_view text);

template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  put_out(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void print_err(fmt::format_string<Args...> format, Args&&... args) {
  put_err(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes what is buffered, so that it comes before what is written to standard error next.
void flush_out();

/// Does that. Why something did not reach standard output, for people; "" if all of it did.
std::string finish_output();

/// The same at the end of a program: says the reason on standard error and returns `code`, or the code of
/// ErrorKind::kDevice in place of 0.
int exit_code_after_output(int code);

}  // namespace corun
