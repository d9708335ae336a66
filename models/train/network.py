"""The network: an encoder over the tokens of one function that says the class of the value that ends at each token.

Besides its own embedding, each token brings those of the n-grams that end at it: their ids are hashed into tables
(hash n-gram embeddings: Huang et al., "Over-Tokenized Transformer", 2025, section 3.2; Pagnoni et al., "Byte Latent
Transformer", 2024, section 3.2.1). A table is looked up, not multiplied, so that what is local, such as `self.name(`,
costs next to nothing on a processor, and the layers are left for what is far apart. The ids are made inside of the
graph: the model's contract (models/README.md) stays the one of any encoder.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .classes import CLASSES
from .settings import Shape

#: Multiplier of the rolling hash. Times the largest table it stays below 2**31: rten computes with 32 bits.
MULTIPLIER = 4093
LARGEST_TABLE = 2**31 // (MULTIPLIER + 1)


class NGrams(nn.Module):
    """For each token, the sum of the tables' vectors for the n-grams that end at it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        if shape.table > LARGEST_TABLE:
            raise ValueError(f"a table of n-grams can have {LARGEST_TABLE} rows at most, not {shape.table}")
        self.lengths = shape.ngrams
        self.rows = shape.table
        self.tables = nn.ModuleList(nn.Embedding(shape.table, shape.table_width) for _ in shape.ngrams)
        self.mix = nn.Linear(shape.table_width * len(shape.ngrams), shape.width, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        found, shifted = [], ids
        # Every length begins with another number, so that n-grams of two lengths do not collide in a fixed pattern.
        hashed = ids
        by_length = {}
        for length in range(2, max(self.lengths) + 1):
            shifted = torch.cat([torch.zeros_like(shifted[:, :1]), shifted[:, :-1]], dim=1)
            hashed = (hashed * MULTIPLIER + shifted + length) % self.rows
            by_length[length] = hashed
        for length, table in zip(self.lengths, self.tables, strict=True):
            found.append(table(by_length[length]))
        return self.mix(torch.cat(found, dim=-1))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions (Su et al., "RoFormer", 2021, section 3.2)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attention. On a CPU it is written out, since the fused form takes three times as long for rows of 256 tokens."""
    mask = mask.to(queries.dtype)
    if queries.is_cuda:
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    scores = queries * queries.shape[-1] ** -0.5 @ keys.transpose(-1, -2) + mask
    return scores.softmax(dim=-1) @ values


class Layer(nn.Module):
    """Attention and a gated feed-forward part, each after a normalization."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.drop = shape.heads, shape.dropout
        self.before_attention = nn.LayerNorm(shape.width, bias=False)
        self.queries_keys_values = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.before_feed = nn.LayerNorm(shape.width, bias=False)
        self.gate_and_up = nn.Linear(shape.width, 2 * shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        rows, tokens, width = x.shape
        together = self.queries_keys_values(self.before_attention(x))
        split = together.view(rows, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        cos, sin = cos.to(split.dtype), sin.to(split.dtype)
        queries, keys = rotate(split[0], cos, sin), rotate(split[1], cos, sin)
        seen = self.out(attend(queries, keys, split[2], mask).transpose(1, 2).reshape(rows, tokens, width))
        x = x + F.dropout(seen, self.drop, self.training)
        gate, up = self.gate_and_up(self.before_feed(x)).chunk(2, dim=-1)
        return x + F.dropout(self.down(F.gelu(gate) * up), self.drop, self.training)


class Encoder(nn.Module):
    """`[batch, tokens]` of ids to `[batch, tokens, width]`."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed = nn.Embedding(shape.vocabulary, shape.width)
        self.ngrams = NGrams(shape) if shape.ngrams else None
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width, bias=False)
        self.apply(self._start)

    def _start(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding | nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
        for layer in self.layers:
            for end in (layer.out, layer.down):
                nn.init.normal_(end.weight, std=0.02 / (2 * len(self.layers)) ** 0.5)

    def forward(self, ids: Tensor, attention: Tensor) -> Tensor:
        x = self.embed(ids)
        if self.ngrams is not None:
            x = x + self.ngrams(ids)
        # This is computed in the graph, since some runtimes cannot slice a table by a length that is unknown before.
        half = self.shape.width // self.shape.heads // 2
        position = torch.arange(ids.shape[1], device=ids.device, dtype=torch.float32)
        rates = torch.exp(torch.arange(half, device=ids.device, dtype=torch.float32) * (-9.210340371976184 / half))
        angles = position[:, None] * rates[None, :]
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        # No token attends to padding.
        mask = ((1 - attention) * -1e4).to(x.dtype)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.norm(x)


class Predictor(nn.Module):
    """The encoder with its two heads: the class of the value that ends at a token, and the token that was masked."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.encoder = Encoder(shape)
        self.hidden = nn.Linear(shape.width, shape.width)
        self.classes = nn.Linear(shape.width, len(CLASSES))
        self.masked = nn.Linear(shape.width, shape.width)
        self.unmask_bias = nn.Parameter(torch.zeros(shape.vocabulary))
        #: Divides the logits. `evaluate` fits it on held-out data, and `export` folds it into the last layer.
        self.register_buffer("temperature", torch.ones(()))

    @classmethod
    def initial(cls, shape: Shape, seed: int, after: Path | None) -> Predictor:
        """The network before training: a stored one, or one with random weights that the seed decides."""
        torch.manual_seed(seed)
        return cls.load(shape, after) if after else cls(shape)

    @classmethod
    def load(cls, shape: Shape, path: Path) -> Predictor:
        """Reads a network that `pretrain` or `finetune` wrote."""
        network = cls(shape)
        try:
            network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except (RuntimeError, pickle.UnpicklingError):
            raise ValueError(
                f"{path} holds no network of this shape: give the settings that it was made with"
            ) from None
        return network

    def of_class(self, encoded: Tensor) -> Tensor:
        return self.classes(F.gelu(self.hidden(encoded)))

    def of_token(self, encoded: Tensor) -> Tensor:
        return F.linear(F.gelu(self.masked(encoded)), self.encoder.embed.weight, self.unmask_bias)

    def forward(self, ids: Tensor, attention: Tensor) -> Tensor:
        return self.of_class(self.encoder(ids, attention)) / self.temperature
