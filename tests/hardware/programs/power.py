"""What the device draws, and how fast it is clocked, while programs run: nvidia-smi's word, twenty times a second.

    with Power() as power:
        ...
        power.between(begin, end)       seconds of time.monotonic() -> {"watts": mean, "sm_mhz": mean}

Readings are of the instant (`power.draw.instant`), not means of the last second. A device that does not tell has no
readings, and between() has {}.
"""

import statistics
import subprocess
import threading
import time

FIELDS = "power.draw.instant,clocks.sm"
EVERY_MS = 50


class Power:
    def __init__(self):
        self.readings = []  # (seconds, watts, MHz)
        self.process = None

    def __enter__(self):
        command = ["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits", "-lms", str(EVERY_MS)]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        except OSError:
            return self
        threading.Thread(target=self.read, daemon=True).start()
        return self

    def read(self):
        for line in self.process.stdout:
            try:
                watts, mhz = map(float, line.split(","))
            except ValueError:  # "[N/A]"
                continue
            self.readings.append((time.monotonic(), watts, mhz))

    def between(self, begin, end):
        seen = [(watts, mhz) for at, watts, mhz in self.readings if begin <= at <= end]
        if not seen:
            return {}
        watts, mhz = map(statistics.mean, zip(*seen))
        return {"watts": round(watts), "sm_mhz": round(mhz)}

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait()
