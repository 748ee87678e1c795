"""The statistics against SciPy and against formulae."""

import math

import numpy
import pytest
import scipy.stats

import corun
from built_package import PAIR

statistics = pytest.importorskip("corun.statistics", reason="the compiled part is not built: ./dev build")


def exact(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.fixture(params=[3, 5, 20, 200])
def pairs(request):
    random = numpy.random.default_rng(request.param)
    baseline = random.normal(60, 5, request.param)
    return baseline * 1.1 + random.normal(0, 2, request.param), baseline


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 19, 30, 99, 1000])
def test_student_quantiles(degrees):
    assert statistics.student_t_95(degrees) == exact(scipy.stats.t.ppf(0.975, degrees))


def test_mean_interval_is_students(pairs):
    values, _ = pairs
    if len(values) < 3:
        assert statistics.mean_interval(values) == (exact(values.mean()), None, None)
        return
    low, high = scipy.stats.t.interval(0.95, len(values) - 1, values.mean(), scipy.stats.sem(values))
    assert statistics.mean_interval(values) == exact((values.mean(), low, high))


def scipy_bootstrap(values, baseline, statistic, level):
    """Its interval and the resamples that it drew."""
    resamples = 500
    found = scipy.stats.bootstrap((values, baseline), statistic, n_resamples=resamples, paired=True, vectorized=False,
                                  confidence_level=level, method="percentile", random_state=numpy.random.default_rng(7))
    indices = numpy.random.default_rng(7).integers(0, len(values), (resamples, len(values)))
    return found.confidence_interval, indices


EFFECTS = {"difference": lambda a, b: numpy.mean(a) - numpy.mean(b),
           "ratio": lambda a, b: numpy.mean(a) / numpy.mean(b)}


@pytest.mark.parametrize("effect", EFFECTS)
def test_bootstrap_is_scipys_for_the_same_resamples(pairs, effect):
    values, baseline = pairs
    expected, indices = scipy_bootstrap(values, baseline, EFFECTS[effect], 0.95)
    found = statistics.paired_bootstrap(values, baseline, effect, expanded=False, indices=indices)
    assert found == exact((EFFECTS[effect](values, baseline), expected.low, expected.high))


def test_an_expanded_interval_is_scipys_at_a_higher_level(pairs):
    values, baseline = pairs
    n = len(values)
    tail = scipy.stats.norm.cdf(-scipy.stats.t.ppf(0.975, n - 1) * math.sqrt(n / (n - 1)))
    expected, indices = scipy_bootstrap(values, baseline, EFFECTS["difference"], 1 - 2 * tail)
    found = statistics.paired_bootstrap(values, baseline, indices=indices)
    assert found[1:] == exact((expected.low, expected.high))


def test_an_expanded_interval_covers_as_it_says():
    random = numpy.random.default_rng(1)
    trials, n = 400, 8
    def covers():
        baseline = random.normal(10, 3, n)
        values = baseline + random.normal(1, 1, n)
        _, low, high = statistics.paired_bootstrap(values, baseline, resamples=999)
        return low <= 1 <= high
    # 400 trials at 95 %: 4.5 standard deviations are 4.9 %.
    assert abs(sum(covers() for _ in range(trials)) / trials - 0.95) < 0.05


def test_an_interval_of_differences_is_scipys(pairs):
    values, baseline = pairs
    found = scipy.stats.ttest_rel(values, baseline)
    expected = found.confidence_interval(0.95)
    assert statistics.paired_interval(values, baseline)[1:] == exact((expected.low, expected.high))


def test_an_interval_of_ratios_holds_those_that_students_t_does_not_refuse(pairs):
    values, baseline = (numpy.abs(sample) + 5 for sample in pairs)
    _, low, high = statistics.paired_interval(values, baseline, "ratio")
    for ratio, p in ((low, 0.05), (high, 0.05)):
        assert scipy.stats.ttest_1samp(values - ratio * baseline, 0).pvalue == pytest.approx(p, rel=1e-6)
    assert low < values.mean() / baseline.mean() < high


def test_a_ratio_to_what_may_be_nothing_has_no_bounds():
    effect, low, high = statistics.paired_interval([1.0, 2.0, 3.0], [-1.0, 0.5, 1.0], "ratio")
    assert effect == pytest.approx(12.0) and math.isnan(low) and math.isnan(high)
    assert math.isnan(statistics.paired_interval([1.0, 2.0], [0.0, 0.0], "ratio")[0])
    assert statistics.paired_interval([3.0, 3.0, 3.0], [2.0, 2.0, 2.0], "ratio") == (1.5, 1.5, 1.5)


def test_bootstrap_is_a_function_of_its_seed():
    values, baseline = numpy.random.default_rng(3).normal(size=(2, 20))
    assert statistics.paired_bootstrap(values, baseline) == statistics.paired_bootstrap(values, baseline)
    assert statistics.paired_bootstrap(values, baseline) != statistics.paired_bootstrap(values, baseline, seed=2)


def test_bootstrap_refuses_what_is_no_pair():
    with pytest.raises(corun.InputError, match="2 values and 1 of the baseline"):
        statistics.paired_bootstrap([1.0, 2.0], [1.0])
    with pytest.raises(corun.InputError, match="expected difference or ratio"):
        statistics.paired_bootstrap([1.0], [1.0], "quotient")
    assert statistics.paired_bootstrap([2.0], [1.0], "ratio") == (2.0, None, None)
    assert math.isnan(statistics.paired_bootstrap([2.0, 1.0], [0.0, 0.0], "ratio")[0])


def mser5_by_definition(series):
    """The cut with the least sum of squared deviations over the squared count, among all of the first half."""
    means = numpy.asarray(series[:len(series) // 5 * 5]).reshape(-1, 5).mean(axis=1)
    errors = [((means[cut:] - means[cut:].mean()) ** 2).sum() / (len(means) - cut) ** 2
              for cut in range(len(means) // 2 + 1)]
    return int(numpy.argmin(errors)) * 5


@pytest.mark.parametrize("seed", range(20))
def test_mser5_is_its_definition(seed):
    random = numpy.random.default_rng(seed)
    count = int(random.integers(50, 500))
    series = (random.normal(10, 1, count)
              + random.choice([0, 8]) * numpy.exp(-numpy.arange(count) / random.uniform(5, 60)))
    cut, is_settled = statistics.mser5(series)
    assert cut == mser5_by_definition(series) and is_settled == (cut < count // 5 // 2 * 5)


def test_mser5_cuts_a_ramp_and_leaves_what_is_steady():
    noise = numpy.random.default_rng(3).normal(0, 0.1, 400)
    assert statistics.mser5(noise)[0] <= 20
    cut, is_settled = statistics.mser5(noise + 5 * numpy.clip(1 - numpy.arange(400) / 100, 0, None))
    assert is_settled and 80 <= cut <= 120
    assert not statistics.mser5(noise + numpy.arange(400) / 10)[1], "still rising at its end"
    assert statistics.mser5([1.0] * 9) == (0, False)
    assert statistics.mser5([1.0] * 100) == (0, True)


@pytest.mark.parametrize("batches", [2, 7, 20])
def test_batch_means_are_students_interval_of_the_means(batches):
    series = numpy.random.default_rng(5).exponential(2.0, 333)
    length = len(series) // batches
    means = series[len(series) - batches * length:].reshape(batches, length).mean(axis=1)
    low, high = scipy.stats.t.interval(0.95, batches - 1, means.mean(), scipy.stats.sem(means))
    assert statistics.batch_means(series, batches) == exact((means.mean(), low, high))


def test_batch_means_see_what_values_as_if_independent_do_not():
    random = numpy.random.default_rng(11)
    series = [0.0]
    for shock in random.normal(0, 1, 20_000):
        series.append(0.95 * series[-1] + shock)
    assert statistics.lag1_correlation(series) == pytest.approx(0.95, abs=0.02)
    _, low, high = statistics.batch_means(series, 20)
    _, naive_low, naive_high = statistics.mean_interval(series)
    # An AR(1) of 0.95 has a mean sqrt(1.95 / 0.05) = 6.2 times as uncertain as independent values.
    assert (high - low) / (naive_high - naive_low) == pytest.approx(6.2, rel=0.5)


def test_too_few_values_are_refused():
    with pytest.raises(corun.InputError, match="20 batches of 3 values"):
        statistics.batch_means([1.0, 2.0, 3.0])
    with pytest.raises(corun.InputError, match="empty sample"):
        statistics.mean_interval([])
    with pytest.raises(corun.InputError, match="1 degree of freedom"):
        statistics.student_t_95(0)


def test_compare_pairs_by_seed(quick):
    effects = corun.compare(corun.open(quick), baseline="passthrough", metric="render_time_p99_ms", client="game")
    assert len(effects) == 1
    row = effects.iloc[0]
    samples = corun.open(quick).samples("render_time_p99_ms")
    theirs, ours = (samples["pair", policy, "game", "render_time_p99_ms", "ms"]
                    for policy in ("passthrough", "nvshare"))
    assert len(set(theirs.values())) == len(set(ours.values())) == 5, "else pairing cannot be seen"
    assert row.difference == exact(sum(ours.values()) / 5 - sum(theirs.values()) / 5)
    assert row.ratio == exact(sum(ours.values()) / sum(theirs.values()))
    assert (row.difference_lo, row.difference_hi) == exact(
        statistics.paired_interval([ours[seed] for seed in ours], [theirs[seed] for seed in ours])[1:])


def test_compare_says_what_is_missing_or_weak(quick):
    with pytest.raises(corun.InputError,
                       match="no run has the policy `nvshar`(?s:.*)did you mean `nvshare`. there are: nvshare, pass"):
        corun.compare(corun.open(quick), baseline="nvshar")
    with pytest.raises(corun.InputError, match="no client `gmae`: did you mean `game`"):
        corun.compare(corun.open(quick), baseline="passthrough", client="gmae")
    with pytest.warns(UserWarning, match="1 pair of seeds: fewer than 3 have no interval"):
        single = corun.compare(corun.run(PAIR, seed=1, until="400ms"), baseline="passthrough")
    assert single.difference_lo.isna().all() and (single.n == 1).all()
    with pytest.warns(UserWarning, match="too few for a 99th percentile"):
        corun.compare(corun.open(quick), baseline="passthrough")
