"""Trains ResNet-50 as tests/hardware/torch_loop.py does, and saves its state when a live run asks (docs/live.md).

Says on standard error at which step it goes on. Never ends by itself.
"""

import os
import pathlib
import sys

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "hardware"))
from torch_loop import resnet50  # noqa: E402

STATE = os.environ.get("CORUN_SNAPSHOT", "")


def load(parts):
    """The step of the last snapshot, whose state `parts` get; 0 where there is none."""
    if not os.path.exists(STATE):
        return 0
    saved = torch.load(STATE)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    return saved["step"]


def save_if_wanted(parts, step):
    if not STATE or not os.path.exists(STATE + ".wanted"):
        return
    os.remove(STATE + ".wanted")
    torch.save({"step": step} | {name: part.state_dict() for name, part in parts.items()}, STATE + ".new")
    os.replace(STATE + ".new", STATE)


def main():
    torch.manual_seed(1)
    model = resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(64, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (64,), device="cuda")
    parts = {"model": model, "optimizer": optimizer}
    step = load(parts)
    print(f"train.py: goes on at step {step}", file=sys.stderr, flush=True)
    while True:
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        torch.cuda.synchronize()
        step += 1
        save_if_wanted(parts, step)


if __name__ == "__main__":
    main()
