"""The quality of predictions, compared with plain counting."""

from __future__ import annotations

import numpy as np

from .classes import CLASSES
from .encode import KINDS, PARTS, Encoded

#: The number of observations of its kind with which a name is smoothed.
SMOOTHING = 8.0
BINS = 15
#: The minimum number of sites for a name in `frequency.json`.
FEWEST = 5


def figures(predicted: np.ndarray, truth: np.ndarray) -> dict:
    """Of probabilities and shares of classes, both `[sites, 12]`. The right class is the one that was seen most often.

    `ece` is the expected calibration error of the likeliest class (Guo et al., 2017, section 2) with 15 bins of equal
    width; `recall` has one number for each class that occurs.
    """
    if not len(predicted):
        return {"sites": 0}
    right = truth.argmax(axis=1)
    order = np.argsort(-predicted, axis=1, kind="stable")
    hit = order == right[:, None]
    found = {"sites": len(predicted)}
    for most in (1, 3, 5):
        found[f"top{most}"] = float(hit[:, :most].any(axis=1).mean())
    found["ece"] = calibration_error(predicted.max(axis=1), hit[:, 0])
    found["recall"] = {name: float(hit[right == n, 0].mean()) for n, name in enumerate(CLASSES) if (right == n).any()}
    return found


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    error = 0.0
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            error += inside.mean() * abs(float(confidence[inside].mean()) - float(right[inside].mean()))
    return float(error)


def temperature(logits: np.ndarray, truth: np.ndarray) -> float:
    """The divisor of logits under which the observations are likeliest (Guo et al., 2017, section 4.2)."""

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        return float((np.log(np.exp(scaled).sum(axis=1)) - (truth * scaled).sum(axis=1)).mean())

    low, high, golden = np.log(0.25), np.log(8.0), (np.sqrt(5) - 1) / 2
    while high - low > 1e-4:
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if loss(left) < loss(right) else (left, high)
    return float(np.exp((low + high) / 2))


def softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def of_part(data: Encoded, part: str) -> np.ndarray:
    return np.flatnonzero(data.site_part == PARTS.index(part))


class Counted:
    """How often a name had which class in the training data, by kind."""

    def __init__(self, data: Encoded) -> None:
        learned = of_part(data, "learned")
        self.of_kind = np.zeros((len(KINDS), len(CLASSES)))
        np.add.at(self.of_kind, data.site_kind[learned], data.truth[learned].astype(float))
        self.of_name = np.zeros((len(KINDS), len(data.names), len(CLASSES)))
        np.add.at(self.of_name, (data.site_kind[learned], data.site_name[learned]), data.truth[learned].astype(float))

    def majority(self, data: Encoded, sites: np.ndarray) -> np.ndarray:
        share = self.of_kind.sum(axis=0) / max(1.0, self.of_kind.sum())
        return np.broadcast_to(share, (len(sites), len(CLASSES)))

    def frequency(self, data: Encoded, sites: np.ndarray) -> np.ndarray:
        kind = data.site_kind[sites]
        before = self.of_kind[kind] / np.maximum(self.of_kind[kind].sum(axis=1, keepdims=True), 1.0)
        counted = self.of_name[kind, data.site_name[sites]] + SMOOTHING * before
        return counted / np.maximum(counted.sum(axis=1, keepdims=True), 1e-9)

    def table(self, data: Encoded) -> dict:
        """What the predictor `frequency` reads: kind -> name -> sums; the empty name stands for all of the kind.

        Names that were seen less often than `FEWEST` are left out: the smoothing leaves little of them.
        """
        table: dict[str, dict[str, list[float]]] = {}
        for number, kind in enumerate(KINDS):
            rows = {"": self.of_kind[number]}
            for name in np.flatnonzero(self.of_name[number].sum(axis=1) >= FEWEST):
                if data.names[name]:
                    rows[str(data.names[name])] = self.of_name[number, name]
            table[kind] = {name: [round(float(one), 2) for one in row] for name, row in sorted(rows.items())}
        return table
