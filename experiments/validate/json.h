#pragma once

#include <string>

#include "experiments/validate/validation.h"

namespace corun::validation {

/// Groups, figures, ranking and explanations, for programs. Same validation, same bytes.
std::string validation_json(const Validation& validation, const ValidationResult& result);

}  // namespace corun::validation
