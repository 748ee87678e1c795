"""What a language-model server computes next: continuous batching of requests, without a model or a clock.

A request is admitted, in order of arrival, when a slot is free and its prompt and output fit into the KV capacity that
is not reserved. Its prompt is computed in chunks; the end of the last chunk gives its first token. Each decode gives
one token to every running sequence, and a sequence with its last token leaves at the end of that part. Which part comes
next is decided by one of three ways:

    prefill_first   prompts that can be admitted are computed whole before any decode
    chunked         one chunk of the oldest prompt, then one decode of all running sequences, and so on
    mixed           both in one part, whose tokens are at most a chunk

Or prompts are computed while sequences are decoded, on SMs of their own: then the next part of either kind is asked
for.
Sizes are padded up to those of a grid, since a CUDA graph has fixed sizes. Equal calls give equal parts.
"""

import collections
import dataclasses

BATCHINGS = ["prefill_first", "chunked", "mixed"]


def padded(size, grid):
    """The smallest size of the grid that holds `size`."""
    return min(entry for entry in grid if entry >= size)


@dataclasses.dataclass(eq=False)
class Request:
    number: int
    arrival_s: float
    prompt: int  # tokens, as output
    output: int
    slot: int = None
    computed: int = 0  # tokens of the prompt in the KV cache
    given: int = 0  # tokens of the output
    first_token_s: float = None
    end_s: float = None

    @property
    def context(self):
        """Tokens in the KV cache once the next decode has run."""
        return self.prompt + self.given


@dataclasses.dataclass(frozen=True)
class Part:
    """One prefill, one decode or both at once, with the padded sizes that the GPU computes."""
    kind: str  # prefill, decode, mixed
    size: int  # tokens of a prefill, of all its prompts; sequences of a decode
    context: int  # prefill: tokens in the cache before; decode: tokens of a sequence, with the new one
    requests: tuple  # mixed: that of the prompt first
    tokens: int  # not padded: of the prompts; of a decode one a sequence
    queue: int  # requests that wait, and reserved tokens of the KV cache, while the part runs
    kv_tokens: int
    decodes: int = 0  # mixed: sequences of the decode, and their context
    decode_context: int = 0
    prompts: int = 1  # of a prefill, each of size / prompts tokens; if several, each is whole

    @property
    def key(self):
        """Its padded sizes."""
        return self.kind, self.size, self.context, self.decodes, self.decode_context, self.prompts

    @property
    def name(self):
        """Of its NVTX range."""
        if self.kind == "decode":
            return f"decode batch={self.size} context={self.context}"
        rest = f" batch={self.decodes} decode_context={self.decode_context}" if self.kind == "mixed" else ""
        rest += f" prompts={self.prompts}" if self.prompts > 1 else ""
        return f"{self.kind} tokens={self.size} context={self.context}{rest}"

    @property
    def reads_prompt(self):
        return self.kind != "decode"

    @property
    def decoded(self):
        """The requests that it decodes."""
        return self.requests[1:] if self.kind == "mixed" else () if self.kind == "prefill" else self.requests

    @property
    def chunks(self):
        """The requests of which it reads the prompt, and how many tokens of each."""
        if self.prompts > 1:
            return [(request, request.prompt) for request in self.requests]
        return [(self.requests[0], self.tokens)] if self.reads_prompt else []

    @property
    def is_last_chunk(self):
        return all(request.computed + tokens == request.prompt for request, tokens in self.chunks)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The grid of padded sizes. Contexts step by context_step, those of a decode double; chunks begin at multiples of
    `chunk`, which says which contexts a prefill can have."""
    max_batch: int
    max_context: int
    chunk: int
    context_step: int
    smallest_prefill: int
    prompts_per_step: int = 1

    @property
    def batches(self):
        return [1 << n for n in range(20) if 1 << n < self.max_batch] + [self.max_batch]

    @property
    def decode_contexts(self):
        return [self.context_step << n for n in range(20) if self.context_step << n < self.max_context] + [
            self.max_context]

    @property
    def prefill_tokens(self):
        smaller = [self.smallest_prefill << n for n in range(20)]
        return [size for size in smaller if size < self.chunk] + [self.chunk]

    @property
    def prefill_contexts(self):
        grid = range(0, self.max_context + 1, self.context_step)
        return sorted({padded(begin, grid) for begin in range(0, self.max_context, self.chunk)})

    @property
    def mixed_prompts(self):
        """Tokens of the prompt in a mixed part: few sizes, since each comes with those of a decode."""
        return sorted({min(128, self.chunk), self.chunk})

    @property
    def mixed_batches(self):
        return [size for size in self.batches if size >= min(8, self.max_batch)]

    def all(self, batching):
        """The keys of every part that can occur."""
        mixed = [("mixed", n, c, b, k, 1) for n in self.mixed_prompts for c in self.mixed_contexts
                 for b in self.mixed_batches for k in self.decode_contexts] if batching == "mixed" else []
        several = [("prefill", n * p, 0, 0, 0, p) for p in self.prompt_counts[1:] for n in self.prefill_tokens
                   if n * p <= self.chunk]
        return [("decode", b, k, 0, 0, 1) for b in self.batches for k in self.decode_contexts] + [
            ("prefill", n, c, 0, 0, 1) for n in self.prefill_tokens
            for c in self.prompt_contexts(batching)] + several + mixed

    @property
    def prompt_counts(self):
        return [1 << n for n in range(20) if 1 << n < self.prompts_per_step] + [self.prompts_per_step]

    @property
    def mixed_contexts(self):
        """Of prompts in mixed parts, and of prefills next to them: chunks end anywhere, so they begin anywhere."""
        return list(range(0, self.max_context + 1, self.context_step))

    def prompt_contexts(self, batching):
        return self.mixed_contexts if batching == "mixed" else self.prefill_contexts


class Batcher:
    def __init__(self, sizes, batching, kv_tokens):
        self.sizes, self.batching, self.kv_tokens = sizes, batching, kv_tokens
        self.waiting, self.running, self.prefilling = collections.deque(), [], None
        self.together = []  # whole prompts that are computed with that one
        self.free_slots = list(range(sizes.max_batch))
        self.reserved, self.is_decode_due = 0, False

    def arrive(self, request):
        self.waiting.append(request)

    @property
    def oldest(self):
        """The request that came first of those without a token; None if there is none."""
        return self.prefilling or (self.waiting[0] if self.waiting else None)

    def next_part(self):
        """What runs next; None if there is nothing to do."""
        if self.batching == "chunked" and self.is_decode_due and self.running:
            return self._decode()
        self._admit()
        if self.prefilling and self.running and self.batching == "mixed":
            return self._mixed() if len(self.running) < self.sizes.chunk else self._decode()
        if self.prefilling:
            return self._prefill()
        return self._decode() if self.running else None

    def next_of(self, kind):
        """The next prefill or decode where both run at the same time, each one after the other; None: there is none."""
        if kind == "decode":
            return self._decode() if self.running else None
        self._admit()
        return self._prefill() if self.prefilling else None

    def finish(self, part, now_s):
        """The part has run and its tokens were read at `now_s`. Returns the requests that received a token."""
        self.is_decode_due = part.reads_prompt
        receivers = part.decoded
        if part.reads_prompt:
            is_last, read = part.is_last_chunk, [request for request, _ in part.chunks]
            for request, tokens in part.chunks:
                request.computed += tokens
            if is_last:
                for request in read:
                    request.first_token_s = now_s
                self.prefilling, self.together = None, []
                self.running.extend(read)
                receivers = (*read, *receivers)
        for request in receivers:
            request.given += 1
            if request.given == request.output:
                self._leave(request, now_s)
        return receivers

    def _admit(self):
        if self.prefilling is None and self._has_room():
            self.prefilling = self._admitted()
            while self._has_room() and self._goes_along(self.waiting[0]):
                self.together.append(self._admitted())

    def _has_room(self):
        """For the request that waits first."""
        return self.waiting and self.free_slots and (
            self.reserved + self.waiting[0].prompt + self.waiting[0].output <= self.kv_tokens)

    def _admitted(self):
        request = self.waiting.popleft()
        self.reserved += request.prompt + request.output
        request.slot = self.free_slots.pop(0)
        return request

    def _goes_along(self, request):
        """Whether a further whole prompt fits into the prefill of those admitted."""
        read, sizes = [self.prefilling, *self.together, request], self.sizes
        longest = max(one.prompt for one in read)
        if self.batching == "mixed" or len(read) > sizes.prompts_per_step or longest > sizes.chunk:
            return False
        return padded(longest, sizes.prefill_tokens) * padded(len(read), sizes.prompt_counts) <= sizes.chunk

    def _leave(self, request, now_s):
        request.end_s = now_s
        self.running.remove(request)
        self.reserved -= request.prompt + request.output
        self.free_slots.append(request.slot)

    def _prefill(self):
        request = self.prefilling
        if self.together:
            read = (request, *self.together)
            count = padded(len(read), self.sizes.prompt_counts)
            longest = padded(max(one.prompt for one in read), self.sizes.prefill_tokens)
            return Part("prefill", longest * count, 0, read, sum(one.prompt for one in read), len(self.waiting),
                        self.reserved, prompts=count)
        tokens = min(self.sizes.chunk, request.prompt - request.computed)
        return Part("prefill", padded(tokens, self.sizes.prefill_tokens),
                    padded(request.computed, self.sizes.prompt_contexts(self.batching)), (request,), tokens,
                    len(self.waiting), self.reserved)

    def _mixed(self):
        request, sizes = self.prefilling, self.sizes
        tokens = min(sizes.chunk - len(self.running), request.prompt - request.computed)
        longest = max(one.context for one in self.running)
        return Part("mixed", padded(tokens, sizes.mixed_prompts), padded(request.computed, sizes.mixed_contexts),
                    (request, *self.running), tokens, len(self.waiting), self.reserved,
                    padded(len(self.running), sizes.mixed_batches), padded(longest, sizes.decode_contexts))

    def _decode(self):
        longest = max(request.context for request in self.running)
        return Part("decode", padded(len(self.running), self.sizes.batches),
                    padded(longest, self.sizes.decode_contexts), tuple(self.running), len(self.running),
                    len(self.waiting), self.reserved)
