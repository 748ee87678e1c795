// corun-worker DESCRIPTOR: the process of one client of a run on hardware. Started by the executor, not by hand.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "sim/executor/worker/worker.h"
#include "traces/base/error.h"

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "corun-worker is started by a run on hardware (`simcli execute`), not by hand\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a dead parent cannot ask its workers to end
  try {
    const auto channel = corun::executor::MappedChannel::open(std::atoi(words[1]));
    if (getppid() != channel->setup.scheduler) return 0;  // it was gone before prctl
    return corun::executor::run_worker(*channel);
  } catch (const corun::Error& error) {
    std::fprintf(stderr, "corun-worker: %s\n", error.what());
    return static_cast<int>(error.kind());
  }
}
