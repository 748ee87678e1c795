// SimGrid (package libsimgrid-dev): hold with N kernel timers pending, and M/M/1 with two actors.
//   simgrid_peer hold N STEPS | simgrid_peer mm1 CUSTOMERS    prints nanoseconds of CPU time per event

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>

namespace sg4 = simgrid::s4u;

namespace {

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::mt19937_64 generator(1);
double draw(double rate) { return std::exponential_distribution<>(rate)(generator); }

long fired = 0, warm = 0, steps = 0;
double begin_s = 0;

void arm() {
  simgrid::kernel::timer::Timer::set(sg4::Engine::get_clock() + draw(1), [] {
    ++fired;
    if (fired == warm) begin_s = cpu_s();
    if (fired == warm + steps) {
      std::printf("%f\n", 1e9 * (cpu_s() - begin_s) / static_cast<double>(steps));
      std::fflush(stdout);
      std::_Exit(0);
    }
    arm();
  });
}

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  auto* zone = sg4::create_full_zone("zone");
  auto* host = zone->create_host("host", "1Gf");
  zone->seal();
  const long number = std::atol(argv[2]);
  if (std::string(argv[1]) == "hold") {
    steps = std::atol(argv[3]);
    warm = std::max(number, 1000L);
    sg4::Actor::create("idle", host, [] { sg4::this_actor::sleep_for(1e12); });
    for (long i = 0; i < number; ++i) arm();
    engine.run();
  }
  const auto line = sg4::Semaphore::create(0);
  sg4::Actor::create("arrive", host, [&] {
    for (long i = 0; i < number; ++i) {
      sg4::this_actor::sleep_for(draw(0.9));
      line->release();
    }
  });
  sg4::Actor::create("serve", host, [&] {
    for (long i = 0; i < number; ++i) {
      line->acquire();
      sg4::this_actor::sleep_for(draw(1));
    }
  });
  const double begin = cpu_s();
  engine.run();
  std::printf("%f\n", 1e9 * (cpu_s() - begin) / static_cast<double>(2 * number));
}
