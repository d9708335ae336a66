"""Fine-tuning on traces: the classes of the values that were there when the code ran.

python -m models.train.finetune OUT --settings FILE --data TRACES.npz [--after PRETRAINED/network.pt]

Without --after the network starts from nothing. OUT gets network.pt, log.jsonl, and while it runs checkpoint.pt, from
which the same command goes on.
"""

from __future__ import annotations

from . import command, settings
from .encode import Encoded
from .loop import train
from .network import Predictor


def main() -> None:
    given = command.training(__doc__).parse_args()
    size = settings.load(given.settings)
    network = Predictor.initial(size.shape, size.seed, given.after)
    train(network, Encoded.load(given.data), size, size.finetune, given.out)


if __name__ == "__main__":
    command.run(main)
