#pragma once

#include <cstdint>
#include <string>

#include "sim/workload/capture/steps/host_log.h"

namespace corun::testing {

/// One letter a launch, 10 us apart; `|` waits, `!` waits for all work, `-` lets 100 us pass, and `=` puts what follows
/// it at the same instant as what stands before it. `C` copies to the host.
inline HostLog step_log(const std::string& text) {
  HostLog log;
  std::int64_t now_us = 0;
  for (const char c : text) {
    now_us += c == '-' ? 100 : c == '=' ? -10 : 10;
    if (c == '-' || c == '=') continue;
    log.symbols.push_back(static_cast<std::uint32_t>(c));
    log.starts_ns.push_back(now_us * 1'000);
    log.whats.push_back(c == '|' ? HostLog::What::kWait : c == '!' ? HostLog::What::kWaitAll : HostLog::What::kLaunch);
  }
  log.names = log.variants = log.symbols;
  log.streams.assign(log.size(), 0);
  log.symbol_count = log.name_count = log.variant_count = 128;
  log.is_update.assign(log.symbol_count, false);
  log.is_read_back.assign(log.symbol_count, false);
  log.is_read_back['C'] = true;
  return log;
}

}  // namespace corun::testing
