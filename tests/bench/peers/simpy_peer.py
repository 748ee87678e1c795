"""SimPy (package python3-simpy3): hold with N timeouts pending, and M/M/1 with two processes.

    simpy_peer.py hold N STEPS | simpy_peer.py mm1 CUSTOMERS    prints nanoseconds of CPU time per event
"""

import random
import sys
import time

import simpy


def hold(pending, steps):
    env = simpy.Environment()
    draw = random.Random(1).expovariate
    done = 0

    def fire(_):
        nonlocal done
        done += 1
        env.timeout(draw(1)).callbacks.append(fire)

    for _ in range(pending):
        env.timeout(draw(1)).callbacks.append(fire)
    warm = max(pending, 1000)
    while done < warm:
        env.step()
    begin = time.process_time()
    while done < warm + steps:
        env.step()
    return (time.process_time() - begin) / steps


def mm1(customers):
    env = simpy.Environment()
    between, service = random.Random(1).expovariate, random.Random(2).expovariate
    line = simpy.Store(env)

    def arrive():
        for _ in range(customers):
            yield env.timeout(between(0.9))
            yield line.put(env.now)

    def serve():
        for _ in range(customers):
            yield line.get()
            yield env.timeout(service(1))

    env.process(arrive())
    last = env.process(serve())
    begin = time.process_time()
    env.run(last)
    return (time.process_time() - begin) / (2 * customers)


if __name__ == "__main__":
    task, *numbers = sys.argv[1:]
    print(1e9 * {"hold": hold, "mm1": mm1}[task](*map(int, numbers)))
