"""Pretraining on source text: tokens that were masked, and the classes that mypy knows.

python -m models.train.pretrain OUT --settings FILE --data CORPUS.npz [--after NETWORK.pt] [--seed N] [--tokens N]

With --after a network that was pretrained is pretrained further; with the same --seed it would see the same rows again.
OUT gets network.pt, log.jsonl, and while it runs checkpoint.pt, from which the same command goes on.
"""

from __future__ import annotations

from dataclasses import replace

from . import command, settings
from .encode import PARTS, Encoded
from .loop import train
from .network import Predictor


def main() -> None:
    parser = command.training(__doc__)
    parser.add_argument("--seed", type=int, help="instead of the one in the settings")
    parser.add_argument("--tokens", type=int, help="instead of those in the settings")
    given = parser.parse_args()
    size = settings.load(given.settings)
    if given.seed is not None:
        size = replace(size, seed=given.seed)
    if given.tokens is not None:
        size = replace(size, pretrain=replace(size.pretrain, tokens=given.tokens))
    # Measurements use only two kinds of packages, from which nothing is learned here either.
    learned = tuple(part for part in PARTS if part not in ("package", "tuned"))
    network = Predictor.initial(size.shape, size.seed, given.after)
    train(network, Encoded.load(given.data), size, size.pretrain, given.out, learned)


if __name__ == "__main__":
    command.run(main)
