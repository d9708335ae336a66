"""Makes the files beside it: a T5 of random weights, exported as Hugging Face Optimum does it, and what it predicts.

    python make.py    (needs torch, transformers, tokenizers and onnx; the tests need none of them)

`expected.json` is computed with PyTorch and the tokenizer alone, step by step as LExecutor's paper and tool describe
the format of a query, so that the Rust implementation is held against another one.
"""

import json
import math
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import T5Config, T5ForConditionalGeneration

HERE = Path(__file__).parent
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>", *[f"<extra_id_{n}>" for n in range(6)]]
WINDOW = 48
KINDS = {"name": "<extra_id_2>", "call": "<extra_id_3>", "attribute": "<extra_id_4>", "subscript": "<extra_id_4>"}
SEPARATOR = "<extra_id_5>"
WORDS = [
    ["None"],
    ["bool", "True", "False"],
    ["int", "int_neg", "int_zero", "int_pos"],
    ["float", "float_neg", "float_zero", "float_pos"],
    ["str", "str_empty", "str_nonempty"],
    ["list", "list_empty", "list_nonempty"],
    ["tuple", "tuple_empty", "tuple_nonempty"],
    ["dict", "dict_empty", "dict_nonempty"],
    ["set", "set_empty", "set_nonempty"],
    ["callable"],
    ["resource"],
    ["object"],
]
TEXT = (
    "def retry(self, request):\n"
    "    times = request.meta.get('retry_times', 0) + 1\n"
    "    # größer\n"
    "    return self.stats[times]\n"
)
SITES = [
    ("name", "request", "request"),
    ("attribute", "request.meta", "meta"),
    ("call", "request.meta.get('retry_times', 0)", "get"),
    ("subscript", "self.stats[times]", "stats"),
]


def tokenizer() -> Tokenizer:
    """Byte-level BPE as CodeT5 has it, with the merges of a few words only."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("o", "n"), ("o", "b"), ("r", "e"), ("s", "e"), ("re", "t"), ("i", "n"), ("in", "t")]
    tokens = [*SPECIAL, *alphabet, *(first + second for first, second in merges)]
    made = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, lstrip=token == "<mask>", special=True) for token in SPECIAL])
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1), add_prefix_space=False)
    made.enable_truncation(WINDOW)
    return made


class Encoder(torch.nn.Module):
    """What Optimum calls encoder_model.onnx."""

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        super().__init__()
        self.encoder = model.encoder

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


class Decoder(torch.nn.Module):
    """What Optimum calls decoder_model.onnx."""

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, encoder_attention_mask: torch.Tensor, input_ids: torch.Tensor, encoder_hidden_states: torch.Tensor
    ) -> torch.Tensor:
        return self.model(
            decoder_input_ids=input_ids,
            encoder_outputs=(encoder_hidden_states,),
            attention_mask=encoder_attention_mask,
            use_cache=False,
        ).logits


def export(model: T5ForConditionalGeneration) -> None:
    """Writes both networks."""
    ids, mask = torch.ones(1, 7, dtype=torch.int64), torch.ones(1, 7, dtype=torch.int64)
    hidden = torch.zeros(1, 7, model.config.d_model)
    rows = {0: "batch_size", 1: "encoder_sequence_length"}
    torch.onnx.export(
        Encoder(model),
        (ids, mask),
        str(HERE / "encoder_model.onnx"),
        input_names=["input_ids", "attention_mask"],
        output_names=["last_hidden_state"],
        dynamic_axes={"input_ids": rows, "attention_mask": rows, "last_hidden_state": rows},
        opset_version=17,
        dynamo=False,
    )
    steps = {0: "batch_size", 1: "decoder_sequence_length"}
    torch.onnx.export(
        Decoder(model),
        (mask, ids[:, :3], hidden),
        str(HERE / "decoder_model.onnx"),
        input_names=["encoder_attention_mask", "input_ids", "encoder_hidden_states"],
        output_names=["logits"],
        dynamic_axes={
            "encoder_attention_mask": rows,
            "input_ids": steps,
            "encoder_hidden_states": rows,
            "logits": steps,
        },
        opset_version=17,
        dynamo=False,
    )


def query(tokens: Tokenizer, start: int, end: int, kind: str, identifier: str) -> list[int]:
    """name <sep> kind <sep> the code with <mask> in the place of the expression."""

    def ids(text: str) -> list[int]:
        return tokens.encode(text, add_special_tokens=False).ids

    masked = TEXT[:start] + "<mask>" + TEXT[end:]
    context = [number for line in masked.splitlines(keepends=True) for number in ids(line)]
    mask = context.index(tokens.token_to_id("<mask>"))
    before, after = context[:mask], context[mask + 1 :]
    # As much on both sides; what one side does not need, the other gets.
    room = WINDOW - len(ids(identifier)) - 6
    half = room // 2
    left = min(len(before), max(half, room - len(after)))
    right = min(len(after), room - left)
    special = tokens.token_to_id
    return [
        special("<s>"),
        *ids(identifier),
        special(SEPARATOR),
        special(KINDS[kind]),
        special(SEPARATOR),
        *before[len(before) - left :],
        special("<mask>"),
        *after[:right],
        special("</s>"),
    ]


def probabilities(model: T5ForConditionalGeneration, tokens: Tokenizer, ids: list[int]) -> list[float]:
    """Of each class: the sum over the shortest beginnings of its words that no word of another class shares."""
    sequences = [[(tokens.encode(word).ids, number) for word in words] for number, words in enumerate(WORDS)]
    spelled = [one for words in sequences for one in words]
    beginnings: dict[tuple[int, ...], int] = {}
    for sequence, number in spelled:
        for length in range(1, len(sequence) + 1):
            start = sequence[:length]
            if all(other == number for known, other in spelled if known[:length] == start):
                beginnings[tuple(start)] = number
                break
    totals = [0.0] * len(WORDS)
    with torch.no_grad():
        for start, number in beginnings.items():
            decoded = torch.tensor([[0, *start[:-1]]])
            logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=decoded).logits[0].double()
            chain = torch.log_softmax(logits, -1)[range(len(start)), list(start)]
            totals[number] += math.exp(chain.sum().item())
    return [total / sum(totals) for total in totals]


def main() -> None:
    """Makes everything anew, the same each time."""
    torch.manual_seed(7)
    tokens = tokenizer()
    tokens.save(str(HERE / "tokenizer.json"), pretty=False)
    config = T5Config(
        vocab_size=tokens.get_vocab_size(),
        d_model=16,
        d_kv=8,
        d_ff=24,
        num_layers=1,
        num_decoder_layers=1,
        num_heads=2,
        feed_forward_proj="relu",
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=2,
        initializer_factor=1.6,
        attn_implementation="eager",
    )
    model = T5ForConditionalGeneration(config).eval()
    expected = []
    for kind, expression, identifier in SITES:
        start = TEXT.index(expression)
        if kind == "name":
            start = TEXT.index(expression, TEXT.index("times = "))
        end = start + len(expression)
        ids = query(tokens, start, end, kind, identifier)
        site = {"start": len(TEXT[:start].encode()), "end": len(TEXT[:end].encode())}
        found = [round(value, 6) for value in probabilities(model, tokens, ids)]
        expected.append({"kind": kind, "identifier": identifier, **site, "input_ids": ids, "probabilities": found})
    # Last: the exporter leaves the model in another state.
    export(model)
    (HERE / "expected.json").write_text(json.dumps({"text": TEXT, "sites": expected}) + "\n")


if __name__ == "__main__":
    main()
