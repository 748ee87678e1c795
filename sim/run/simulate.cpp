#include "sim/run/simulation.h"

namespace corun {

RunResult simulate(const RunInput& input, Recorder& recorder) {
  Engine engine(input.interrupt);
  Simulation simulation(input, engine, recorder);
  simulation.schedule();
  engine.run(kRunStart + input.horizon);
  return simulation.finish();
}

}  // namespace corun
