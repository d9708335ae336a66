"""One training run: batches, optimizers, checkpoints.

A run that was killed goes on from its last checkpoint, batch for batch as it would have gone without.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .encode import PARTS, Encoded
from .network import Predictor
from .settings import Settings, Stage
from .tokenizer import MASK_ID, PADDING_ID

#: The number of batches that are cut together from rows of similar length.
POOL = 40
LOG_EVERY = 20


@dataclass
class Batch:
    ids: Tensor
    attention: Tensor
    #: The training sites, and the classes seen there.
    row: Tensor
    token: Tensor
    truth: Tensor

    def to(self, device: str) -> Batch:
        return Batch(*(part.to(device, non_blocking=True) for part in vars(self).values()))


class Rows:
    """The rows of an encoded source as batches."""

    def __init__(self, data: Encoded, parts: tuple[str, ...]) -> None:
        self.data = data
        wanted = np.isin(data.site_part, [PARTS.index(part) for part in parts])
        self.sites = np.flatnonzero(wanted)
        self.lengths = np.diff(data.starts)
        # The position of a row's first site among the wanted ones.
        self.bounds = np.searchsorted(data.site_row[self.sites], np.arange(len(self.lengths) + 1))

    def with_sites(self) -> np.ndarray:
        return np.flatnonzero(np.diff(self.bounds) > 0)

    def batch(self, rows: np.ndarray) -> Batch:
        longest = int(self.lengths[rows].max())
        ids = np.full((len(rows), longest), PADDING_ID, dtype=np.int64)
        attention = np.zeros((len(rows), longest), dtype=np.int64)
        at, sites = [], []
        for number, row in enumerate(rows):
            start, length = self.data.starts[row], self.lengths[row]
            ids[number, :length] = self.data.ids[start : start + length]
            attention[number, :length] = 1
            own = self.sites[self.bounds[row] : self.bounds[row + 1]]
            at.append(np.full(len(own), number))
            sites.append(own)
        chosen = np.concatenate(sites)
        return Batch(
            torch.from_numpy(ids),
            torch.from_numpy(attention),
            torch.from_numpy(np.concatenate(at)),
            torch.from_numpy(self.data.site_token[chosen].astype(np.int64)),
            torch.from_numpy(self.data.truth[chosen].astype(np.float32)),
        )

    def cut(self, rows: np.ndarray, tokens: int) -> list[np.ndarray]:
        """Rows of similar length in batches of this many tokens, padding included."""
        rows = rows[np.argsort(self.lengths[rows], kind="stable")]
        batches, start = [], 0
        for end in range(1, len(rows) + 1):
            if end == len(rows) or int(self.lengths[rows[end]]) * (end - start + 1) > tokens:
                batches.append(rows[start:end])
                start = end
        return batches

    def endless(self, tokens: int, seed: int, power: float) -> Iterator[np.ndarray]:
        """Batches of rows, epoch after epoch. The same seed gives the same batches."""
        rows = self.with_sites()
        package = self.data.row_package[rows]
        size = np.bincount(package, minlength=package.max() + 1).astype(float)
        weight = size[package] ** (power - 1)
        # On average a row is taken once in an epoch, and rows of small packages more often.
        expected = weight / weight.mean()
        epoch = 0
        while True:
            chance = np.random.default_rng([seed, epoch])
            times = np.floor(expected + chance.random(len(rows))).astype(int)
            order = chance.permutation(np.repeat(rows, times))
            pool = max(1, int(POOL * tokens / max(1.0, float(self.lengths[rows].mean()))))
            for start in range(0, len(order), pool):
                batches = self.cut(order[start : start + pool], tokens)
                for number in chance.permutation(len(batches)):
                    yield batches[number]
            epoch += 1


def optimizers(network: Predictor, stage: Stage) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers (Jordan et al., 2024), AdamW for tables, norms and heads."""
    matrices = [p for p in network.encoder.layers.parameters() if p.ndim == 2]
    known = {id(p) for p in matrices}
    others = [p for p in network.parameters() if id(p) not in known]
    return [
        torch.optim.Muon(matrices, lr=stage.rate, weight_decay=stage.decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=stage.rate, betas=(0.9, 0.98), weight_decay=stage.decay, fused=True),
    ]


def precision(settings: Settings) -> AbstractContextManager:
    """The precision of forward passes."""
    return torch.autocast(settings.device.split(":")[0], torch.bfloat16) if settings.half else nullcontext()


def share_of_rate(stage: Stage, tokens: int) -> float:
    """Rises linearly, then falls linearly to zero."""
    done = min(1.0, tokens / stage.tokens)
    return min(1.0, done / stage.warm_up if stage.warm_up else 1.0) * (1 - done) / (1 - stage.warm_up)


def hide(ids: Tensor, attention: Tensor, share: float, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """The ids with some of them masked, and which these are."""
    hidden = (torch.rand(ids.shape, generator=chance) < share).to(ids.device) & (attention > 0)
    return torch.where(hidden, torch.full_like(ids, MASK_ID), ids), hidden


def loss_of(network: Predictor, batch: Batch, stage: Stage, chance: torch.Generator) -> dict[str, Tensor]:
    ids, losses = batch.ids, {}
    if stage.masked or stage.dropped:
        ids, hidden = hide(ids, batch.attention, stage.masked or stage.dropped, chance)
    encoded = network.encoder(ids, batch.attention)
    if len(batch.row):
        logits = network.of_class(encoded[batch.row, batch.token]).float()
        losses["class"] = -(batch.truth * F.log_softmax(logits, dim=-1)).sum(-1).mean()
    if stage.masked:
        losses["token"] = F.cross_entropy(network.of_token(encoded[hidden]).float(), batch.ids[hidden])
    return losses


def train(network: Predictor, data: Encoded, settings: Settings, stage: Stage, out: Path, parts=("learned",)) -> None:
    """Trains in place; OUT gets checkpoint.pt as it goes on, log.jsonl, and network.pt at the end.

    A checkpoint is one of this run if settings, data and the network to begin with are the same.
    """
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(settings.threads)
    rows = Rows(data, parts)
    network.to(settings.device).train()
    made = optimizers(network, stage)
    step = tokens = 0
    spent = 0.0
    saved = out / "checkpoint.pt"
    run = repr((settings.seed, settings.shape, stage, parts, digest(network, data)))
    if saved.exists():
        state = torch.load(saved, map_location=settings.device, weights_only=True)
        if state["run"] != run:
            raise ValueError(
                f"{saved} is of another run, with other settings, data or another network to begin with: give another "
                "folder, or delete it"
            )
        network.load_state_dict(state["network"])
        for optimizer, one in zip(made, state["optimizers"], strict=True):
            optimizer.load_state_dict(one)
        step, tokens, spent = state["step"], state["tokens"], state["seconds"]
    batches = rows.endless(stage.batch, settings.seed, stage.package_power)
    for _ in range(step):
        next(batches)
    began = last_saved = time.monotonic()
    half = precision(settings)
    sums: dict[str, float] = {}
    with (out / "log.jsonl").open("a") as log:
        while tokens < stage.tokens:
            chosen = next(batches)
            # Dropout and masks depend only on the step, so that a killed run continues as it would have.
            torch.manual_seed(settings.seed * 1_000_003 + step)
            chance = torch.Generator().manual_seed(settings.seed * 1_000_033 + step)
            batch = rows.batch(chosen).to(settings.device)
            with half:
                losses = loss_of(network, batch, stage, chance)
            loss = losses.get("class", 0.0) + stage.masked_weight * losses.get("token", 0.0)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            for optimizer in made:
                for group in optimizer.param_groups:
                    group["lr"] = stage.rate * share_of_rate(stage, tokens)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            if not math.isfinite(float(norm)):
                raise ArithmeticError(f"step {step}: the gradient is not finite; a lower rate may help")
            step += 1
            tokens += int(batch.ids.numel())
            for name, one in losses.items():
                sums[name] = sums.get(name, 0.0) + float(one.detach())
            if step % LOG_EVERY == 0:
                seconds = spent + time.monotonic() - began
                line = {"step": step, "tokens": tokens, "seconds": round(seconds, 1)}
                line |= {name: round(one / LOG_EVERY, 4) for name, one in sums.items()}
                sums.clear()
                log.write(json.dumps(line) + "\n")
                log.flush()
                print(line, flush=True)
            if time.monotonic() - last_saved > settings.checkpoint:
                last_saved = time.monotonic()
                keep(saved, run, network, made, step, tokens, spent + last_saved - began)
    torch.save(network.state_dict(), out / "network.pt")
    saved.unlink(missing_ok=True)


def digest(network: Predictor, data: Encoded) -> str:
    """A fingerprint of a network's weights, or of training data."""
    sums = hashlib.sha256()
    weights = (tensor.cpu().numpy() for tensor in network.state_dict().values())
    for array in (*weights, data.ids, data.site_token, data.truth):
        sums.update(np.ascontiguousarray(array).tobytes())
    return sums.hexdigest()


def keep(path: Path, run: str, network: Predictor, made: list, step: int, tokens: int, seconds: float) -> None:
    """Writes a checkpoint completely, or leaves the one before."""
    state = {
        "run": run,
        "network": network.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in made],
        "step": step,
        "tokens": tokens,
        "seconds": seconds,
    }
    part = path.with_name(f"{path.name}.part")
    torch.save(state, part)
    part.replace(path)
