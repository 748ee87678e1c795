#!/usr/bin/env python3
"""Memory and time of a training step of ResNet152V2 (Keras, 224 x 224, Adam, single precision), from its layers.

Backward keeps, of each layer, what its gradient reads: the input of each normalisation, the output of each ReLU (also
the input of the convolution behind it). Sums and ReLUs are done in place. Not counted: gradients on their way and
cuDNN's workspaces, which the layers do not tell.
"""

STACKS = [(64, 3), (128, 8), (256, 36), (512, 3)]  # filters and blocks
CLASSES = 133  # breeds, as in the thesis' listing 11.1
FLOAT = 4
IMAGES = {"train": 6680, "valid": 835, "test": 836}  # of the dog-breed set with 133 classes
EPOCHS = 5
ALONE_S = 750.4  # thesis, Table 11.7
DUTY = 0.72  # of the GPU, from the ratio of Table 11.8's row for batch 16 to Table 11.7's
FORWARD = 1 / 3  # of a training step's work


def layers():
    """Kept values of an image, and parameters."""
    size, channels = 56, 64
    kept = 112 * 112 * 64 + size * size * channels  # convolution and pooling in front
    parameters = 7 * 7 * 3 * 64 + 64
    for number, (filters, blocks) in enumerate(STACKS):
        for block in range(blocks):
            shrinks = block == blocks - 1 and number < len(STACKS) - 1
            out = size // 2 if shrinks else size
            kept += size * size * (channels + 2 * filters) + out * out * (2 * filters + 4 * filters)
            parameters += channels * filters + 9 * filters * filters + 4 * filters * filters + 4 * filters
            parameters += 2 * (channels + 2 * filters)
            if block == 0:
                parameters += channels * 4 * filters + 4 * filters
            size, channels = out, 4 * filters
    return kept + 2 * size * size * channels, parameters + 2 * channels + size * size * channels * CLASSES + CLASSES


def main():
    kept, parameters = layers()
    fixed_gb = parameters * FLOAT * 4 / 1e9  # weights, gradients, Adam's two moments
    image_gb = kept * FLOAT / 1e9
    worked = EPOCHS * (IMAGES["train"] + FORWARD * IMAGES["valid"]) + FORWARD * IMAGES["test"]
    image_ms = ALONE_S * DUTY / worked * 1e3
    print(f"{parameters / 1e6:.1f} million parameters: {fixed_gb:.2f} GB")
    print(f"an image: {image_gb:.3f} GB and {image_ms:.1f} ms")
    print("batch  working set  pass (half a step)")
    for batch in (16, 32, 40, 64, (15.3 - fixed_gb) / image_gb):
        print(f"{batch:5.0f}  {fixed_gb + batch * image_gb:8.2f} GB  {batch * image_ms / 2:6.0f} ms")


if __name__ == "__main__":
    main()
