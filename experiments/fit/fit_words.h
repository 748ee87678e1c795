#pragma once

#include <string>

#include "experiments/fit/fit.h"

namespace corun {

/// "in turns", "under MPS", "under pilotfish".
std::string policy_text(const std::string& policy);

/// "3 (surely 2, perhaps 4)"
std::string count_text(const FitAnswer& answer, const FitCurve& curve, int most);

/// nullptr: so many were not simulated.
const FitPoint* point_at(const FitCurve& curve, int sessions);

/// The curve with most sessions; of alike ones that under which the fillers keep most. nullptr: none could be tried.
const FitCurve* best_of(const FitAnswer& answer, bool has_fillers);

/// The curves that were not refused, best_of() them first and the others in their order.
std::vector<const FitCurve*> best_first(const FitAnswer& answer, bool has_fillers);

/// "train keeps 0.31" of each filler that is no server.
std::vector<std::string> filler_parts(const FitQuestion& question, const FitPoint& point);

/// ", where train keeps 0.31, encoder keeps 0.2"; "" without parts.
std::string where_text(const std::vector<std::string>& parts);

/// What the labels in the table mean, a line each.
std::string basis_legend(const FitAnswer& answer, std::size_t indent);

/// Where hosts may be slower in company: what the ends of a range are, a line. "" elsewhere.
std::string hosts_legend(const FitAnswer& answer, std::size_t indent);

/// "train and encoder"
std::string names_of(const std::vector<AskedProgram>& programs);

}  // namespace corun
