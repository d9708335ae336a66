"""Fine-tuning on traces: the classes of the values that were there when the code ran.

python -m models.train.finetune OUT --settings FILE --data TRACES.npz [--after PRETRAINED/network.pt]

Without --after the network starts from nothing. OUT gets network.pt, log.jsonl, and while it runs checkpoint.pt, from
which the same command goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from . import command, settings
from .encode import Encoded
from .loop import train
from .network import Predictor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--after", type=Path)
    given = parser.parse_args()
    size = settings.load(given.settings)
    torch.manual_seed(size.seed)
    network = Predictor.load(size.shape, given.after) if given.after else Predictor(size.shape)
    train(network, Encoded.load(given.data), size, size.finetune, given.out)


if __name__ == "__main__":
    command.run(main)
