// ns-3 (package libns3-dev), its default scheduler: hold with N events pending, and M/M/1.
//   ns3_peer hold N STEPS | ns3_peer mm1 CUSTOMERS    prints nanoseconds of CPU time per event

#include <ns3/core-module.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

namespace {

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::mt19937_64 generator(1);
ns3::Time draw(double rate) {
  return ns3::NanoSeconds(1 + static_cast<std::int64_t>(1e8 * std::exponential_distribution<>(rate)(generator)));
}

long fired = 0, limit = 0, warm = 0;
double begin_s = 0;

void fire() {
  if (++fired == warm) begin_s = cpu_s();
  if (fired == limit) return ns3::Simulator::Stop();
  ns3::Simulator::Schedule(draw(1), &fire);
}

long waiting = 0, served = 0, arrived = 0, customers = 0;

void depart() {
  ++served;
  if (--waiting > 0) ns3::Simulator::Schedule(draw(1), &depart);
}

void arrive() {
  if (++waiting == 1) ns3::Simulator::Schedule(draw(1), &depart);
  if (++arrived < customers) ns3::Simulator::Schedule(draw(0.9), &arrive);
}

}  // namespace

int main(int, char** argv) {
  const long number = std::atol(argv[2]);
  long events = 2 * number;
  if (std::string(argv[1]) == "hold") {
    events = std::atol(argv[3]);
    warm = std::max(number, 1000L);
    limit = warm + events;
    for (long i = 0; i < number; ++i) ns3::Simulator::Schedule(draw(1), &fire);
  } else {
    customers = number;
    ns3::Simulator::Schedule(draw(0.9), &arrive);
  }
  begin_s = cpu_s();
  ns3::Simulator::Run();
  std::printf("%f\n", 1e9 * (cpu_s() - begin_s) / static_cast<double>(events));
}
