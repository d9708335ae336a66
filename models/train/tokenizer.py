"""The tokenizer: byte-level BPE in which every ASCII punctuation mark and digit is a token of its own.

python -m models.train.tokenizer OUT.json --settings FILE --from PATH...

A site is read at the token of its last character; with punctuation apart, that token never holds more than the site.
Identifiers are parted at underscores, so that `get_user_name` and `user_names` share what they mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from . import command, functions, settings

#: Their ids are 0 and 1 in every tokenizer.
PADDING, MASK = "<pad>", "<mask>"
PADDING_ID, MASK_ID = 0, 1


def made(texts: Iterator[str], vocabulary: int, window: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[!-/:-@\[-`{-~]"), behavior="isolated"),
            pre_tokenizers.Split(Regex(r"[0-9]"), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PADDING, MASK],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    # Everything that uses the model reads this as the window. Nothing is ever cut off there.
    tokenizer.enable_truncation(window)
    return tokenizer


def load(path: Path) -> tuple[Tokenizer, int]:
    """A tokenizer without truncation, and its window."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more exact
        raise ValueError(f"{path} is not a tokenizer: {error}") from None
    window = (tokenizer.truncation or {"max_length": 512})["max_length"]
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, window


def texts(sources: list[Path], most: int) -> Iterator[str]:
    """The texts of functions of training packages, in equal parts from the sources."""
    for source in sources:
        count = 0
        for function in functions.read(source):
            if functions.usable(function["package"]) and not functions.held_out(function["package"]):
                yield function["text"]
                count += 1
                if count == most:
                    break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--from", dest="sources", type=Path, nargs="+", required=True)
    parser.add_argument("--most", type=int, default=60_000, help="functions of each source")
    given = parser.parse_args()
    shape = settings.load(given.settings).shape
    tokenizer = made(texts(given.sources, given.most), shape.vocabulary, shape.window)
    tokenizer.save(str(given.out))
    print(f"{tokenizer.get_vocab_size()} tokens in {given.out}")


if __name__ == "__main__":
    command.run(main)
