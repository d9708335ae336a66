"""One size of the network and of its training, from a TOML file (`configs/`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """The shape of the network."""

    vocabulary: int
    window: int
    width: int
    heads: int
    layers: int
    #: Width of the gated feed-forward part.
    inner: int
    #: The lengths of n-grams, from 2. Without n-grams it is empty.
    ngrams: tuple[int, ...]
    #: The rows and the width of the table for each length.
    table: int
    table_width: int
    dropout: float


@dataclass(frozen=True)
class Stage:
    """One training run over one kind of data."""

    #: The number of tokens in total, padding included.
    tokens: int
    #: The number of tokens of one batch, padding included.
    batch: int
    rate: float
    warm_up: float
    decay: float
    #: The share of a function's tokens that are masked and predicted; 0 is none.
    masked: float
    #: The share of a function's tokens that are hidden and not predicted.
    dropped: float
    #: The share of masked tokens in the loss.
    masked_weight: float
    #: A package counts as its size to this power: 1 counts every function alike, 0 every package.
    package_power: float


@dataclass(frozen=True)
class Settings:
    name: str
    seed: int
    #: The number of PyTorch's threads.
    threads: int
    device: str
    #: Whether forward and backward passes compute in bfloat16.
    half: bool
    #: Seconds between two checkpoints.
    checkpoint: int
    shape: Shape
    pretrain: Stage
    finetune: Stage


class BadSettings(SystemExit):
    """Ends the program with the error in a settings file."""


def load(path: Path) -> Settings:
    try:
        given = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(f"{path}: {error}") from None
    parts = {"shape": Shape, "pretrain": Stage, "finetune": Stage}
    return _fill(Settings, given, str(path), parts)


def _fill(kind: type, given: dict, where: str, parts: dict[str, type]):
    known = {field.name for field in fields(kind)}
    if missing := sorted(known - given.keys()):
        raise BadSettings(f"{where}: `{missing[0]}` is missing")
    if unknown := sorted(given.keys() - known):
        raise BadSettings(f"{where}: there is no setting `{unknown[0]}`; there are {', '.join(sorted(known))}")
    values = {}
    for name, value in given.items():
        if name in parts:
            value = _fill(parts[name], value, f"{where}, [{name}]", {})
        values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)
