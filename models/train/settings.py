"""One size of the network and of its training, as a TOML file says it (`configs/`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """What the network looks like."""

    vocabulary: int
    window: int
    width: int
    heads: int
    layers: int
    #: Width of the gated feed-forward part.
    inner: int
    #: Lengths of n-grams, from 2; none at all if empty.
    ngrams: tuple[int, ...]
    #: Rows and width of the table that each length has.
    table: int
    table_width: int
    dropout: float


@dataclass(frozen=True)
class Stage:
    """One training run over one kind of data."""

    #: In all, padding included.
    tokens: int
    #: Of one batch, padding included.
    batch: int
    rate: float
    warm_up: float
    decay: float
    #: Of the tokens of a function are masked and predicted; 0 is none.
    masked: float
    #: Of the tokens of a function are hidden and not predicted.
    dropped: float
    #: Share of the loss that masked tokens have.
    masked_weight: float
    #: Functions of a package count as its size to this power: 1 is as they come, 0 gives all packages the same.
    package_power: float


@dataclass(frozen=True)
class Settings:
    name: str
    seed: int
    #: Threads of PyTorch.
    threads: int
    device: str
    #: Computes forward and backward in bfloat16.
    half: bool
    #: Seconds between two checkpoints.
    checkpoint: int
    shape: Shape
    pretrain: Stage
    finetune: Stage


class BadSettings(SystemExit):
    """Ends the program with what is wrong with a file of settings."""


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
