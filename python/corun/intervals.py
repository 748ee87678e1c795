"""Confidence intervals of a mean over seeds."""

import math
import statistics

# 97.5 % quantile of Student's t for 1 to 30 degrees of freedom.
_T_975 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
          2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555,
          2.0518, 2.0484, 2.0452, 2.0423)


def student_t_975(degrees):
    """The 97.5 % quantile of Student's t, right to 0.0005."""
    if degrees <= len(_T_975):
        return _T_975[degrees - 1]
    z = 1.959964  # the same quantile of the normal distribution
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def mean_interval(values):
    """(mean, low, high) of the 95 % interval of the mean; low and high are None for a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None, None
    half = student_t_975(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half
