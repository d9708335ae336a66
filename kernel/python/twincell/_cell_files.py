"""The names of the files that stand for cells in a debugger. Front ends compute the same names from a cell's text."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import struct
import tempfile
from binascii import crc32
from typing import Any

from IPython.core.compilerop import CachingCompiler

#: Front ends know no other way to hash.
HASH_METHOD = "Murmur2"
HASH_SEED = 0xC70F6907
SUFFIX = ".py"
#: joblib and line_profiler know cells by `ipykernel_` and digits in their path. Nobody can guess the digits, since the
#: folder of temporary files belongs to everybody.
_NUMBER = f"{os.getpid()}{random.SystemRandom().randrange(10**18):018}"
FOLDER = os.path.join(os.path.realpath(tempfile.gettempdir()), f"ipykernel_{_NUMBER}")
PREFIX = FOLDER + os.sep

#: VS Code sets this environment variable to the name by which its debugger knows the cell that runs.
NAME = "IPYKERNEL_CELL_NAME"

_WORD = 0xFFFFFFFF
_FACTOR = 0x5BD1E995


def name_of(code: str) -> str:
    """The file of a cell with this text."""
    return f"{PREFIX}{murmur2(code.encode('utf-8', 'surrogatepass'), HASH_SEED)}{SUFFIX}"


def write(path: str, code: str) -> None:
    """Writes a text into the folder or one in it. They are made for it and go when the kernel ends."""
    if not os.path.isdir(FOLDER):
        os.mkdir(FOLDER, 0o700)
        atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(code)


def murmur2(data: bytes, seed: int) -> int:
    """MurmurHash2 with 32 bits."""
    whole = len(data) & ~3
    hashed = seed ^ len(data)
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        word = word * _FACTOR & _WORD
        word = (word ^ word >> 24) * _FACTOR & _WORD
        hashed = hashed * _FACTOR & _WORD ^ word
    rest = data[whole:]
    if rest:
        hashed = (hashed ^ int.from_bytes(rest, "little")) * _FACTOR & _WORD
    hashed = (hashed ^ hashed >> 13) * _FACTOR & _WORD
    return hashed ^ hashed >> 15


class NamedCompiler(CachingCompiler):
    """Compiles cells under the names that a front end gives them, otherwise under names such as IPython's."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> Any:
        return os.environ.get(NAME) or self.own_name(raw_code, transformed_code, number)

    def own_name(self, raw_code: str, transformed_code: str, number: int) -> Any:
        hashed = crc32(transformed_code.encode("utf-8", "surrogatepass"))
        return f"<ipython-input-{number}-{hashed:08x}>"


class FileCompiler(NamedCompiler):
    """Compiles cells under the names of the files that stand for them in a debugger."""

    def own_name(self, raw_code: str, transformed_code: str, number: int) -> Any:
        return name_of(raw_code)
