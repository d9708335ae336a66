"""The files that twincell reads: model.onnx, tokenizer.json, frequency.json; and SHA256SUMS of the first two.

python -m models.train.export OUT --settings FILE --network NETWORK.pt --tokenizer FILE [--data TRACES.npz]

The temperature goes into the last layer, so that softmax of the logits gives calibrated probabilities. Tables of
n-grams are written in 8 bits with one scale a row, everything else in float16 with a cast behind it. What was written
is run and compared with the network that it was made from. frequency.json is written where --data is given.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn

from . import command, measure, settings
from .encode import Encoded
from .network import Predictor

OPSET = 17
#: The maximum difference between the probabilities of the written network and of the original one.
ALLOWED = 0.02


class InBytes(nn.Module):
    """A table in 8 bits, which is read as floats."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        weight = table.weight.detach()
        scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("rows", torch.round(weight / scale).to(torch.int8))

    def forward(self, ids: Tensor) -> Tensor:
        return self.rows[ids].to(torch.float32) * self.scale[ids]


class InHalves(nn.Module):
    """A table in float16, which is read as floats."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        self.register_buffer("rows", table.weight.detach().half())

    def forward(self, ids: Tensor) -> Tensor:
        return self.rows[ids].to(torch.float32)


def folded(network: Predictor) -> Predictor:
    """Divides by the temperature in the last layer, once and for all."""
    with torch.no_grad():
        network.classes.weight /= network.temperature
        network.classes.bias /= network.temperature
        network.temperature.fill_(1.0)
    return network


class Contract(nn.Module):
    """The inputs and outputs of the file, as models/README.md describes them."""

    def __init__(self, network: Predictor) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.network.of_class(self.network.encoder(input_ids, attention_mask))


def write(network: Predictor, path: Path) -> None:
    ids = torch.randint(2, network.encoder.shape.vocabulary, (2, 16))
    dynamic = {0: "batch", 1: "tokens"}
    with warnings.catch_warnings():
        # Its successor writes graphs that some of the runtimes do not accept.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Contract(network).eval(),
            (ids, torch.ones_like(ids)),
            str(path),
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_axes={"input_ids": dynamic, "attention_mask": dynamic, "logits": dynamic},
            opset_version=OPSET,
            dynamo=False,
        )


def halve(path: Path) -> None:
    """Stores the weights of products in float16. This comes after the export, which would fold the casts away."""
    model = onnx.load(path)
    graph = model.graph
    weights = {node.input[1] for node in graph.node if node.op_type == "MatMul"}
    casts = []
    for tensor in graph.initializer:
        if tensor.name in weights and tensor.data_type == onnx.TensorProto.FLOAT:
            half = onnx.numpy_helper.to_array(tensor).astype(np.float16)
            name = f"{tensor.name}.half"
            casts.append(onnx.helper.make_node("Cast", [name], [tensor.name], to=onnx.TensorProto.FLOAT))
            tensor.CopyFrom(onnx.numpy_helper.from_array(half, name))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.save(model, path)


def difference(network: Predictor, path: Path) -> float:
    """The largest difference of a probability, for rows of several lengths, one of them padded."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    chance = torch.Generator().manual_seed(0)
    most = 0.0
    for tokens in (1, 7, 130, network.encoder.shape.window):
        ids = torch.randint(2, network.encoder.shape.vocabulary, (2, tokens), generator=chance)
        attention = torch.ones_like(ids)
        attention[1, tokens // 2 + 1 :] = 0
        with torch.inference_mode():
            expected = network.eval()(ids, attention).softmax(-1).numpy()
        given = session.run(None, {"input_ids": ids.numpy(), "attention_mask": attention.numpy()})[0]
        seen = attention.numpy() > 0
        most = max(
            most, float(np.abs(measure.softmax(given.reshape(-1, 12)).reshape(given.shape) - expected)[seen].max())
        )
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--network", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    size = settings.load(given.settings)
    given.out.mkdir(parents=True, exist_ok=True)

    def network() -> Predictor:
        return Predictor.load(size.shape, given.network).eval()

    smaller = folded(network())
    smaller.encoder.embed = InHalves(smaller.encoder.embed)
    if smaller.encoder.ngrams is not None:
        smaller.encoder.ngrams.tables = nn.ModuleList(InBytes(table) for table in smaller.encoder.ngrams.tables)
    model = given.out / "model.onnx"
    write(smaller, model)
    halve(model)
    if (most := difference(network(), model)) > ALLOWED:
        raise SystemExit(f"{model} is not the network that it was made from: probabilities differ by {most:.3f}")
    (given.out / "tokenizer.json").write_bytes(given.tokenizer.read_bytes())
    sums = {
        name: hashlib.sha256((given.out / name).read_bytes()).hexdigest() for name in ("model.onnx", "tokenizer.json")
    }
    (given.out / "SHA256SUMS").write_text("".join(f"{value}  {name}\n" for name, value in sums.items()))
    if given.data:
        data = Encoded.load(given.data)
        table = measure.Counted(data).table(data)
        (given.out / "frequency.json").write_text(json.dumps(table, separators=(",", ":"), ensure_ascii=False))
    print(f"{model}: {model.stat().st_size / 2**20:.1f} MiB; probabilities differ by at most {most:.4f}")


if __name__ == "__main__":
    command.run(main)
