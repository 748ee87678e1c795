"""servers/language/batching.py: which part comes next."""

import dataclasses
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "servers" / "language"))
from batching import BATCHINGS, Batcher, Request, Sizes  # noqa: E402

SIZES = Sizes(max_batch=4, max_context=128, chunk=32, context_step=32, smallest_prefill=8)


def run_all(batcher, arrivals):
    """Runs to the end. `arrivals`: {how many parts have run: requests}. Each part takes a second. Returns the parts,
    with the requests that were running and those that waited when each was chosen."""
    seen = []
    while True:
        for request in arrivals.pop(len(seen), []):
            batcher.arrive(request)
        part = batcher.next_part()
        if part is None and not arrivals:
            return seen
        if part:
            seen.append((part, list(batcher.running), list(batcher.waiting)))
            batcher.finish(part, float(len(seen)))
        else:
            seen.append((None, [], []))


def names(seen):
    return [part.name for part, _, _ in seen]


def test_prompts_are_computed_whole_before_any_decode():
    batcher = Batcher(SIZES, "prefill_first", 512)
    seen = run_all(batcher, {0: [Request(0, 0, 70, 2), Request(1, 0, 5, 3)]})
    assert names(seen) == ["prefill tokens=32 context=0", "prefill tokens=32 context=32", "prefill tokens=8 context=64",
                           "prefill tokens=8 context=0", "decode batch=2 context=128", "decode batch=1 context=32"]


def test_each_chunk_is_followed_by_one_decode():
    batcher = Batcher(SIZES, "chunked", 512)
    seen = run_all(batcher, {0: [Request(0, 0, 5, 4), Request(1, 0, 40, 2)]})
    assert names(seen) == ["prefill tokens=8 context=0", "decode batch=1 context=32",
                           "prefill tokens=32 context=0", "decode batch=1 context=32",
                           "prefill tokens=8 context=32", "decode batch=2 context=64"]


def test_a_mixed_part_reads_what_decodes_leave_of_the_chunk():
    batcher = Batcher(SIZES, "mixed", 512)
    seen = run_all(batcher, {0: [Request(0, 0, 5, 5), Request(1, 0, 40, 2)]})
    assert names(seen) == ["prefill tokens=8 context=0", "mixed tokens=32 context=0 batch=4 decode_context=32",
                           "mixed tokens=32 context=32 batch=4 decode_context=32", "decode batch=2 context=64",
                           "decode batch=1 context=32"]
    assert [part.tokens for part, _, _ in seen] == [5, 31, 9, 2, 1]


def test_whole_prompts_that_fit_together_are_computed_in_one_part():
    sizes = dataclasses.replace(SIZES, prompts_per_step=3)
    batcher = Batcher(sizes, "prefill_first", 512)
    requests = [Request(0, 0, 6, 2), Request(1, 0, 8, 2), Request(2, 0, 5, 1), Request(3, 0, 40, 1)]
    seen = run_all(batcher, {0: requests})
    assert names(seen) == ["prefill tokens=24 context=0 prompts=3", "prefill tokens=32 context=0",
                           "prefill tokens=8 context=32", "decode batch=2 context=32"]
    assert seen[0][0].tokens == 19 and [one.first_token_s for one in requests] == [1, 1, 1, 3]
    assert requests[2].end_s == 1 and batcher.reserved == 0


def test_prompts_whose_padded_sizes_exceed_the_chunk_are_computed_apart():
    batcher = Batcher(dataclasses.replace(SIZES, prompts_per_step=4), "chunked", 512)
    seen = run_all(batcher, {0: [Request(0, 0, 9, 1), Request(1, 0, 9, 1), Request(2, 0, 3, 1)]})
    assert names(seen) == ["prefill tokens=32 context=0 prompts=2", "prefill tokens=8 context=0"]


def test_prompts_and_decodes_are_formed_independently_where_they_run_at_the_same_time():
    batcher = Batcher(SIZES, "chunked", 512)
    first, second = Request(0, 0, 5, 3), Request(1, 0, 40, 2)
    batcher.arrive(first)
    assert batcher.next_of("decode") is None, "nothing was read"
    batcher.finish(batcher.next_of("prefill"), 1.0)
    batcher.arrive(second)
    reading, decoding = batcher.next_of("prefill"), batcher.next_of("decode")
    assert (reading.requests, decoding.requests) == ((second,), (first,))
    batcher.finish(decoding, 2.0)
    assert batcher.next_of("decode").requests == (first,), "the second is still being read"
    batcher.finish(reading, 3.0)
    batcher.finish(batcher.next_of("prefill"), 4.0)
    assert batcher.next_of("decode").requests == (first, second) and batcher.next_of("prefill") is None


def test_the_last_chunk_gives_the_first_token_and_each_decode_one_more():
    batcher = Batcher(SIZES, "prefill_first", 512)
    request = Request(0, 0, 40, 3)
    run_all(batcher, {0: [request]})
    assert (request.first_token_s, request.end_s) == (2, 4)


def test_a_request_of_one_token_ends_with_its_prompt():
    request = Request(0, 0, 10, 1)
    assert names(run_all(Batcher(SIZES, "chunked", 512), {0: [request]})) == ["prefill tokens=16 context=0"]
    assert request.first_token_s == request.end_s == 1


def test_a_request_waits_until_its_prompt_and_output_fit_into_the_kv_capacity():
    first, second = Request(0, 0, 20, 3), Request(1, 0, 20, 3)
    run_all(Batcher(SIZES, "chunked", 45), {0: [first, second]})
    assert second.first_token_s == first.end_s + 1
    first, second = Request(0, 0, 20, 3), Request(1, 0, 20, 3)
    run_all(Batcher(SIZES, "chunked", 46), {0: [first, second]})
    assert second.first_token_s <= first.end_s


def test_no_request_overtakes_an_earlier_one():
    large, larger, small = Request(0, 0, 60, 20), Request(1, 0, 60, 20), Request(2, 0, 1, 1)
    run_all(Batcher(SIZES, "prefill_first", 100), {0: [large, larger, small]})
    assert large.first_token_s < larger.first_token_s < small.first_token_s


@pytest.mark.parametrize("batching", BATCHINGS)
@pytest.mark.parametrize("seed", range(40))
def test_any_requests_get_all_their_tokens_within_the_limits(batching, seed):
    chance = random.Random(seed)
    kv_tokens = chance.randrange(128, 400)
    requests, arrivals = [], {}
    for number in range(chance.randrange(1, 25)):
        prompt = chance.randrange(1, 120)
        requests.append(Request(number, 0, prompt, chance.randrange(1, 129 - prompt)))
        arrivals.setdefault(chance.randrange(60), []).append(requests[-1])
    seen = run_all(Batcher(SIZES, batching, kv_tokens), arrivals)
    assert all(request.given == request.output and request.computed == request.prompt for request in requests)
    for part, running, waiting in filter(lambda row: row[0], seen):
        slots = [request.slot for request in {*running, *part.requests}]
        assert len(slots) == len(set(slots)) <= SIZES.max_batch
        assert part.kv_tokens <= kv_tokens and part.queue == len(waiting)
        assert part.key in SIZES.all(batching)
        assert part.kind == "prefill" or list(part.decoded) == running
        assert part.kind != "mixed" or part.tokens + len(part.decoded) <= SIZES.chunk
    prefilled = sum(part.tokens for part, _, _ in seen if part and part.reads_prompt)
    assert prefilled == sum(request.prompt for request in requests)
