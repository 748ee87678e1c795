"""What all Python tests have in common."""

import signal

# Tests interrupt programs, and a job in the background would ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
