"""Measures a network on what it has not learned from, and calibrates it.

python -m models.train.evaluate OUT.json --settings FILE --data TRACES.npz --network NETWORK.pt [--share 0.25]

The temperature is fitted on the part `tuned` (packages that are neither learned from nor measured), and written into
NETWORK.pt. Then each of the three splits is measured: `sample` as the papers do it, sites at random, so that other
sites of the same function were learned from; `function`; and `package`, code that the network has not seen.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from . import command, functions, measure, settings
from .encode import Encoded
from .loop import Rows, precision
from .network import Predictor

SPLITS = ("sample", "function", "package")


def logits_of(network: Predictor, data: Encoded, part: str, size: settings.Settings, share: float) -> tuple:
    """The logits and the truth for the sites in a share of a part's rows, chosen by their number."""
    rows = Rows(data, (part,))
    chosen = np.array([row for row in rows.with_sites() if functions.chance("measured", int(row)) < share], dtype=int)
    found, truth = [], []
    network.to(size.device).eval()
    with torch.inference_mode(), precision(size):
        for some in rows.cut(chosen, size.finetune.batch):
            batch = rows.batch(some).to(size.device)
            encoded = network.encoder(batch.ids, batch.attention)
            found.append(network.of_class(encoded[batch.row, batch.token]).float().cpu().numpy())
            truth.append(batch.truth.cpu().numpy())
    return np.concatenate(found), np.concatenate(truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--network", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows of each part, to save time")
    given = parser.parse_args()
    size = settings.load(given.settings)
    torch.set_num_threads(size.threads)
    data = Encoded.load(given.data)
    network = Predictor.load(size.shape, given.network)
    counted = measure.Counted(data)

    logits, truth = logits_of(network, data, "tuned", size, given.share)
    fitted = measure.temperature(logits, truth)
    network.temperature.fill_(fitted)
    torch.save(network.to("cpu").state_dict(), given.network)
    found = {"parameters": sum(p.numel() for p in network.parameters()), "temperature": fitted, "splits": {}}
    for part in SPLITS:
        logits, truth = logits_of(network, data, part, size, given.share)
        sites = measure.of_part(data, part)
        seen = data.truth[sites].astype(float)
        found["splits"][part] = {
            "network": measure.figures(measure.softmax(logits / fitted), truth),
            "not calibrated": {"ece": measure.figures(measure.softmax(logits), truth)["ece"]},
            "frequency": measure.figures(counted.frequency(data, sites), seen),
            "majority": measure.figures(counted.majority(data, sites), seen),
        }
        print(
            part,
            {name: round(one.get("top1", one["ece"]), 4) for name, one in found["splits"][part].items()},
            flush=True,
        )
    given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    command.run(main)
