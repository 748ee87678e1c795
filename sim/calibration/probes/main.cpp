// corun-probe NAME key=value...: one probe of a calibration. Started by `simcli calibrate`, not by hand.

#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>

#include "sim/calibration/probes/probe.h"
#include "traces/base/error.h"

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "corun-probe is started by `simcli calibrate`, not by hand\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    return corun::calibration::run_probe(count - 1, words + 1);
  } catch (const corun::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.kind());
  }
}
