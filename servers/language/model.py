"""A decoder of Llama's shape with random weights, and the KV cache of its sequences.

One function computes groups of prefills and decodes alike: `b` sequences, each with `n` new tokens, of which the keys
and values are written into the sequence's slot of the cache, and which look at the first `length` tokens of that slot.
Groups share all but the attention. All that differs from call to call is in tensors, so that a CUDA graph of the call
serves any slots and positions.
"""

import dataclasses

import torch
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Shape:
    layers: int
    width: int
    heads: int
    kv_heads: int
    ffn: int
    words: int

    @property
    def head(self):
        return self.width // self.heads


@dataclasses.dataclass(frozen=True)
class Group:
    """Sequences with equally many new tokens. The first three are [b, n], the next two [b]."""
    tokens: torch.Tensor
    positions: torch.Tensor
    write_slots: torch.Tensor
    read_slots: torch.Tensor
    last: torch.Tensor
    length: int


SHAPES = {"1b": Shape(22, 2048, 32, 4, 5632, 32000), "8b": Shape(32, 4096, 32, 8, 14336, 128256),
          "tiny": Shape(2, 64, 4, 2, 128, 256)}


def turned(x, cosine, sine):
    """Rotary positions: [b, n, heads, head]."""
    half = x.shape[-1] // 2
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), -1) * sine


class Model:
    def __init__(self, shape, slots, max_context, device, dtype, seed=1):
        self.shape, self.max_context = shape, max_context
        chance = torch.Generator(device).manual_seed(seed)

        def weights(rows, columns):
            made = torch.empty(rows, columns, device=device, dtype=dtype)
            return made.normal_(0, columns ** -0.5, generator=chance)

        kv_width = shape.kv_heads * shape.head
        self.words = weights(shape.words, shape.width)
        self.layers = [{"qkv": weights(shape.width + 2 * kv_width, shape.width),
                        "out": weights(shape.width, shape.width), "gate_up": weights(2 * shape.ffn, shape.width),
                        "down": weights(shape.width, shape.ffn)}
                       for _ in range(shape.layers)]
        self.last = weights(shape.words, shape.width)
        self.norm = torch.ones(shape.width, device=device, dtype=dtype)
        # [layer, keys or values, slot, head, position, ...]; the slot behind the last takes what is only padding.
        self.cache = torch.zeros(shape.layers, 2, slots + 1, shape.kv_heads, max_context, shape.head, device=device,
                                 dtype=dtype)
        frequencies = 1e4 ** (-torch.arange(0, shape.head, 2, device=device, dtype=torch.float32) / shape.head)
        angles = torch.arange(max_context, device=device, dtype=torch.float32)[:, None] * frequencies
        angles = torch.cat((angles, angles), -1)
        self.cosine, self.sine = angles.cos().to(dtype), angles.sin().to(dtype)

    def normed(self, x):
        return F.rms_norm(x, (self.shape.width,), self.norm, 1e-5)

    def next_tokens(self, groups):
        """[sequences of all groups]: the likeliest token behind token `last[i]` of each sequence."""
        shape = self.shape
        x = F.embedding(torch.cat([group.tokens.flatten() for group in groups]), self.words)
        sights = [self.sight(group) for group in groups]
        parts = [group.tokens.numel() for group in groups]
        for layer, cache in zip(self.layers, self.cache):
            qkv = F.linear(self.normed(x), layer["qkv"]).split(parts)
            seen = [self.attention(one.view(*group.tokens.shape, -1), cache, group, *sight)
                    for one, group, sight in zip(qkv, groups, sights)]
            x = x + F.linear(torch.cat(seen) if len(seen) > 1 else seen[0], layer["out"])
            gate, up = F.linear(self.normed(x), layer["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        last = [one.view(*group.tokens.shape, -1).gather(1, group.last[:, None, None].expand(-1, 1, shape.width))[:, 0]
                for one, group in zip(x.split(parts), groups)]
        return F.linear(self.normed(torch.cat(last)), self.last).argmax(-1)

    def sight(self, group):
        """What the attention of a group needs in each layer: turns, the rows of the cache, a slot's head each, that it
        reads, and the mask."""
        shape, positions = self.shape, group.positions
        turn = self.cosine[positions][:, :, None], self.sine[positions][:, :, None]
        seen = torch.arange(group.length, device=positions.device) <= positions[:, :, None]
        mask = torch.zeros_like(seen, dtype=self.words.dtype).masked_fill_(~seen, float("-inf"))
        mask = mask.repeat(1, shape.heads // shape.kv_heads, 1)[:, None]  # queries that share keys are rows of one head
        heads = torch.arange(shape.kv_heads, device=positions.device)
        return turn, (group.read_slots[:, None] * shape.kv_heads + heads).flatten(), mask

    def attention(self, qkv, cache, group, turn, read, mask):
        """[b * n, width]"""
        shape, (b, n, _), length = self.shape, qkv.shape, group.length
        kv_width, queries = shape.kv_heads * shape.head, shape.heads // shape.kv_heads
        q, k, v = (part.unflatten(-1, (-1, shape.head)) for part in qkv.split((shape.width, kv_width, kv_width), -1))
        written = group.write_slots, slice(None), group.positions
        cache[0][written] = turned(k, *turn)
        cache[1][written] = v
        # Rows of two dimensions: PyTorch copies such by vectors.
        k, v = (part.flatten(0, 1).flatten(1)[:, :length * shape.head][read].view(b, shape.kv_heads, length, shape.head)
                for part in cache)
        q = turned(q, *turn).view(b, n, shape.kv_heads, queries, shape.head).permute(0, 2, 3, 1, 4)
        q = q.reshape(b, shape.kv_heads, queries * n, shape.head)
        if n > 1:
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.expand(-1, shape.kv_heads, -1, -1))
        else:  # one query: products of matrices fill the device, where the fused kernel has few blocks
            weights = torch.softmax((q @ k.mT) * shape.head ** -0.5 + mask, -1, dtype=torch.float32).to(q.dtype)
            seen = weights @ v
        seen = seen.view(b, shape.kv_heads, queries, n, shape.head).permute(0, 3, 1, 2, 4)
        return seen.reshape(b * n, shape.width)
