#pragma once

#include <cstddef>
#include <memory>

#include "traces/reader.h"

namespace corun {

inline constexpr std::size_t kSniffedBytes = 64 << 10;  ///< of a file's beginning, by which its format is told
inline constexpr std::size_t kLongestName = 4 << 10;    ///< bytes of a name that a timeline keeps

// The one list of foreign formats. A new format is one file that defines its function and one line here; importers.cpp
// calls them in this order, which also settles ties between importers that are equally sure of a file.

std::unique_ptr<TraceImporter> make_kineto_importer();       ///< PyTorch profiler / Chrome trace JSON
std::unique_ptr<TraceImporter> make_xla_importer();          ///< XLA (JAX, TensorFlow) profile, its JSON
std::unique_ptr<TraceImporter> make_nsys_importer();         ///< Nsight Systems SQLite export
std::unique_ptr<TraceImporter> make_presentmon_importer();   ///< PresentMon, OCAT, FrameView CSV
std::unique_ptr<TraceImporter> make_capframex_importer();    ///< CapFrameX CSV and JSON
std::unique_ptr<TraceImporter> make_mangohud_importer();     ///< MangoHud log
std::unique_ptr<TraceImporter> make_afterburner_importer();  ///< MSI Afterburner log
std::unique_ptr<TraceImporter> make_orion_importer();        ///< Orion kernel profiles
std::unique_ptr<TraceImporter> make_part_importer();         ///< one part of a session of simtrace

}  // namespace corun
