"""Programs that try to walk around the bounds of their worker: each is ended, and its neighbour is not harmed."""

import platform
import sys

import pytest

from .snippets import CHANGING, INCONCLUSIVE, compare, reason

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="written against Linux on x86-64"
)

OPTIONS = {"budget": 3, "timeout": 5, "jobs": 1, "predictor": "uniform", "memory": 128}

#: Memory that the limit of a process does not count.
MEMORY = {
    "made unwritable": """
        import ctypes, mmap
        C = ctypes.CDLL(None)
        kept = []
        while True:
            some = mmap.mmap(-1, 1 << 26, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            address = ctypes.addressof(ctypes.c_char.from_buffer(some))
            ctypes.memset(address, 1, 1 << 26)
            C.mprotect(ctypes.c_void_p(address), 1 << 26, 1)
            kept.append(some)
        """,
    "growing stacks": """
        import ctypes, time
        C = ctypes.CDLL(None)
        C.mmap.restype = ctypes.c_void_p
        C.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
        while True:
            found = C.mmap(None, ctypes.c_size_t(1 << 26), 3, 0x122, -1, 0)
            if found not in (None, 2 ** 64 - 1):
                C.memset(found, 1, 1 << 26)
            else:
                time.sleep(0.01)
        """,
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory_counts_where_it_is_used(name):
    lines = [line.removeprefix("        ") for line in MEMORY[name].splitlines() if line.strip()]
    body = "".join(f"    {line}\n" for line in lines)
    comparison = compare(*(f"def f(x):\n{body}    return {one}\n" for one in ("1", "2 - 1")), **OPTIONS)
    assert comparison.verdict == INCONCLUSIVE, reason(comparison)
    assert "more memory than it may" in reason(comparison) + " ".join(comparison.pairs[0]["notes"])
    neighbour = compare(
        "def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n", **OPTIONS | {"budget": 40}
    )
    assert neighbour.verdict == CHANGING
