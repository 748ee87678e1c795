#pragma once

#include <string>
#include <string_view>

namespace corun {

/// The name of a kernel as people say it: of "void at::copy<float, 4>(float*, int)" it is "at::copy".
///
/// Return type, template arguments and argument list of a demangled signature are left out. Names that are no
/// signatures, and those of which nothing would be left, come back whole.
std::string short_kernel_name(std::string_view full);

}  // namespace corun
