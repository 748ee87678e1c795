"""More programs in JAX, written after the search for steps and recorded once, to test it blind.

    more_jax_programs.py NAME [options of loop.py]
"""

import jax
import jax.numpy as jnp
import loop
import optax
from jax_programs import synchronize


def recurrent(run):
    """A recurrent net over 64 instants by lax.scan, trained with Adam; the host reads every loss."""
    key = jax.random.key(1)
    weights = {"in": jax.random.normal(key, (64, 1024)) * 0.05, "rec": jax.random.normal(key, (256, 1024)) * 0.05,
               "out": jax.random.normal(key, (256, 1)) * 0.05}
    series, optimizer = jax.random.normal(key, (64, 128, 64)), optax.adam(1e-3)
    state = optimizer.init(weights)

    def loss(w):
        def cell(carry, x):
            hidden, memory = carry
            i, f, g, o = jnp.split(x @ w["in"] + hidden @ w["rec"], 4, axis=-1)
            memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(memory), memory), None
        start = jnp.zeros((128, 256))
        (hidden, _), _ = jax.lax.scan(cell, (start, start), series)
        return jnp.square(hidden @ w["out"] - 1).mean()

    @jax.jit
    def train(w, s):
        value, gradients = jax.value_and_grad(loss)(w)
        updates, s = optimizer.update(gradients, s)
        return optax.apply_updates(w, updates), s, value

    def step():
        nonlocal weights, state
        weights, state, value = train(weights, state)
        float(value)
    run.run(step, step_is="one training step")


def particles(run):
    """4096 bodies that attract each other, ten instants in one call; the host waits for every 20th."""
    positions = jax.random.normal(jax.random.key(1), (4096, 3))
    speeds, count = jnp.zeros_like(positions), 0

    @jax.jit
    def advance(x, v):
        def instant(_, state):
            x, v = state
            apart = x[None, :, :] - x[:, None, :]
            force = (apart / (jnp.square(apart).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)
            v = v + 1e-4 * force
            return x + 1e-3 * v, v
        return jax.lax.fori_loop(0, 10, instant, (x, v))

    def step():
        nonlocal positions, speeds, count
        positions, speeds = advance(positions, speeds)
        count += 1
        if count % 20 == 0:
            positions.block_until_ready()
    run.run(step, step_is="ten instants; every twentieth step waits")


def decoder(run):
    """A decoder with a cache of keys and values that is given to the next call; every token is read. 64 make a text."""
    keys = iter(jax.random.split(jax.random.key(1), 32))
    layers = [{"qkv": jax.random.normal(next(keys), (512, 1536), jnp.bfloat16) * 0.02,
               "up": jax.random.normal(next(keys), (512, 2048), jnp.bfloat16) * 0.02,
               "down": jax.random.normal(next(keys), (2048, 512), jnp.bfloat16) * 0.02} for _ in range(4)]
    table = jax.random.normal(next(keys), (8000, 512), jnp.bfloat16)

    def token(cache, word, position):
        x, fresh = table[word], []
        for layer, (k, v) in zip(layers, cache):
            q, key, value = jnp.split(x @ layer["qkv"], 3, axis=-1)
            k, v = (jax.lax.dynamic_update_slice(old, new[:, None], (0, position, 0))
                    for old, new in ((k, key), (v, value)))
            scores = jax.nn.softmax(jnp.where(jnp.arange(64) <= position, (q[:, None] * k).sum(-1), -1e4))
            x = x + (scores[..., None] * v).sum(1)
            x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
            fresh.append((k, v))
        return fresh, (x @ table.T).argmax(-1)

    fast = jax.jit(token, donate_argnums=0)
    state = {"position": 64, "cache": None, "word": None}

    def step():
        if state["position"] == 64:
            empty = [tuple(jnp.zeros((4, 64, 512), jnp.bfloat16) for _ in range(2)) for _ in layers]
            state.update(position=0, cache=empty, word=jnp.zeros(4, jnp.int32))
        state["cache"], state["word"] = fast(state["cache"], state["word"], state["position"])
        state["position"] += 1
        state["word"].tolist()
    run.run(step, warm_up=128, step_is="one token; 64 make a text", texts_of=64)


if __name__ == "__main__":
    loop.Loop({"jax_recurrent": recurrent, "jax_particles": particles, "jax_decoder": decoder}, synchronize)
