"""Programs in JAX: a training step of large matrix products, a convolution net with Flax and Optax, an inference loop.

    jax_programs.py NAME [options of loop.py]
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import loop
import optax


def synchronize():
    jax.effects_barrier()
    (jax.device_put(0.0) + 0).block_until_ready()


def matmul_training(run):
    """Four layers of 2048, trained on 2048 rows in bfloat16; every step waits for its loss."""
    keys = jax.random.split(jax.random.key(1), 5)
    weights = [jax.random.normal(key, (2048, 2048), jnp.bfloat16) * 0.02 for key in keys[:4]]
    rows = jax.random.normal(keys[4], (2048, 2048), jnp.bfloat16)

    def loss(parameters, x):
        for weight in parameters:
            x = jax.nn.relu(x @ weight)
        return jnp.mean(jnp.square(x).astype(jnp.float32))

    @jax.jit
    def train(parameters, x):
        value, gradients = jax.value_and_grad(loss)(parameters, x)
        return [p - 1e-3 * g for p, g in zip(parameters, gradients)], value

    def step():
        nonlocal weights
        weights, value = train(weights, rows)
        value.block_until_ready()
    run.run(step, step_is="one call of the jitted training step")


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (32, 64, 128):
            x = nn.relu(nn.Conv(width, (3, 3))(x))
            x = nn.relu(nn.Conv(width, (3, 3), strides=(2, 2))(x))
        return nn.Dense(10)(x.mean((1, 2)))


def conv_training(run):
    """A small net of convolutions over 64 pictures of 32 by 32, trained with Adam; the loss is read now and then."""
    model, optimizer = Net(), optax.adam(1e-3)
    pictures = jax.random.normal(jax.random.key(1), (64, 32, 32, 3))
    labels = jax.random.randint(jax.random.key(2), (64,), 0, 10)
    parameters = model.init(jax.random.key(3), pictures)
    state = optimizer.init(parameters)

    @jax.jit
    def train(parameters, state):
        def loss(p):
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(p, pictures), labels).mean()
        value, gradients = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(parameters, updates), state, value

    count = 0

    def step():
        nonlocal parameters, state, count
        parameters, state, value = train(parameters, state)
        count += 1
        if count % 10 == 0:
            float(value)
    run.run(step, step_is="one call of the jitted training step; every tenth reads the loss")


def inference(run):
    """An encoder of four layers, 512 wide, over 16 texts of 128; one answer in eight is waited for."""
    keys = iter(jax.random.split(jax.random.key(1), 32))
    layers = [{name: jax.random.normal(next(keys), shape, jnp.bfloat16) * 0.02
               for name, shape in (("qkv", (512, 1536)), ("out", (512, 512)), ("up", (512, 2048)),
                                   ("down", (2048, 512)))} for _ in range(4)]
    texts = jax.random.normal(next(keys), (16, 128, 512), jnp.bfloat16)

    @jax.jit
    def infer(weights, x):
        for layer in weights:
            query, key, value = jnp.split((x @ layer["qkv"]).reshape(16, 128, 8, 192), 3, axis=-1)
            x = x + jax.nn.dot_product_attention(query, key, value).reshape(16, 128, 512) @ layer["out"]
            x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
        return x.mean(1)

    count = 0

    def step():
        nonlocal count
        answer = infer(layers, texts)
        count += 1
        if count % 8 == 0:
            answer.block_until_ready()
    run.run(step, warm_up=40, step_is="one call of the jitted function; every eighth is waited for")


if __name__ == "__main__":
    loop.Loop({"jax_matmul": matmul_training, "jax_conv": conv_training, "jax_inference": inference}, synchronize)
