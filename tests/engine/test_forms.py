"""What code parses is given in the form that it reads, with and without each part, also through helpers."""

from .layers import SEEDS, expect_in, over
from .snippets import CHANGING, PRESERVING, code

# name: (what stands before, the old version, what the new one has instead: (text, replacement)).
FORMS = {
    "a date": (
        "from datetime import datetime",
        """
        def f(text: str):
            day = datetime.strptime(text, '%d/%m/%Y')
            return day.month > 6
        """,
        ("> 6", ">= 6"),
    ),
    "an ISO date": (
        "from datetime import datetime",
        """
        def f(text: str):
            return datetime.fromisoformat(text).tzinfo is None
        """,
        ("tzinfo is None", "microsecond == 0"),
    ),
    "the machine of an address": (
        "from urllib.parse import urlsplit",
        """
        def f(url: str):
            return urlsplit(url).hostname
        """,
        ("hostname", "netloc"),
    ),
    "the blank values of a query": (
        "from urllib.parse import parse_qs, urlparse",
        """
        def f(url: str):
            return parse_qs(urlparse(url).query)
        """,
        (".query", ".query, keep_blank_values=True"),
    ),
    "a key that JSON lacks": (
        "import json",
        """
        def f(text: str):
            data = json.loads(text)
            return data['name'] + data.get('suffix', '')
        """,
        ("'')", "'.')"),
    ),
    "objects in a list of JSON": (
        "import json",
        """
        def f(text: str):
            return [row['name'] for row in json.loads(text) if row.get('size') is None]
        """,
        ("if row.get('size') is None", ""),
    ),
    "the stem of a path": (
        "from pathlib import PurePath",
        """
        def f(path: str):
            return PurePath(path).stem
        """,
        ("PurePath(path).stem", "PurePath(path).name.split('.')[0]"),
    ),
    "a hexadecimal number": (
        "",
        """
        def f(text: str):
            return int(text, 16) > 255
        """,
        ("> 255", ">= 255"),
    ),
    "words in quotes": (
        "import shlex",
        """
        def f(line: str):
            return shlex.split(line)
        """,
        ("shlex.split(line)", "line.split()"),
    ),
    "the machine or the network": (
        "import ipaddress",
        """
        def f(text: str):
            return ipaddress.ip_address(text).version == 4
        """,
        (".version == 4", ".is_private"),
    ),
    "bytes around a separator": (
        "",
        """
        def f(line: bytes):
            name, value = line.split(b':', 1)
            return name.lower(), value.strip()
        """,
        ("value.strip()", "value"),
    ),
    "a number after a separator of bytes": (
        "",
        """
        def f(line):
            name, _, value = line.partition(b'=')
            return name if not value else int(value)
        """,
        ("int(value)", "int(value) + 1"),
    ),
    "bytes that a pattern finds": (
        "import re",
        r"""
        def f(data: bytes):
            found = re.match(rb'bytes=(\d+)-(\d*)$', data)
            return None if not found else (int(found.group(1)), int(found.group(2) or -1))
        """,
        ("or -1", "or 0"),
    ),
    "what a helper splits": (
        "def _fields(line):\n    name, value = line.split('=>')\n    return name.strip(), value.strip()",
        """
        def f(line):
            name, value = _fields(line)
            return name.upper(), value
        """,
        ("value\n", "value or None\n"),
    ),
    "what a pattern of a helper finds": (
        "import re\n\n\ndef _version(text):\n    return tuple(map(int, re.match(r'v(\\d+)\\.(\\d+)$', text).groups()))",
        """
        def f(text: str):
            major, minor = _version(text)
            return major > 2
        """,
        ("> 2", ">= 2"),
    ),
    "the parameters of a header": (
        "",
        """
        def f(header: str):
            found = {}
            for part in header.split(';'):
                name, _, value = part.strip().partition('=')
                found[name.lower()] = value.strip('"')
            return found
        """,
        (".strip('\"')", ""),
    ),
}


@over(FORMS, seed=SEEDS)
def test_a_difference_in_a_part_of_a_text_is_found(name, runs):
    before, old, (text, replacement) = FORMS[name]
    old = before + "\n\n\n" + code(old)
    assert text in old
    head, _, tail = old.rpartition(text)
    expect_in(runs, CHANGING, old, head + replacement + tail, function="f")


SAME = {
    "two sides of a separator": (
        """
        def f(line: str):
            name, _, value = line.partition('=')
            return name, value
        """,
        """
        def f(line: str):
            if '=' not in line:
                return line, ''
            name, value = line.split('=', 1)
            return name, value
        """,
    ),
    "the last field": (
        "def f(line: str):\n    return line.split(':')[-1]\n",
        "def f(line: str):\n    return line.rpartition(':')[2]\n",
    ),
    "bytes in two steps": (
        "def f(data: bytes):\n    return [part.strip() for part in data.split(b',')]\n",
        "def f(data: bytes):\n    return list(map(bytes.strip, data.split(b',')))\n",
    ),
    "a date in two steps": (
        "from datetime import datetime\n\n\ndef f(t: str):\n    return datetime.strptime(t, '%Y-%m-%d').day\n",
        "from datetime import datetime\n\n\ndef f(t: str):\n    d = datetime.strptime(t, '%Y-%m-%d')\n"
        "    return d.day\n",
    ),
}


@over(SAME, seed=range(3))
def test_another_way_to_read_the_same_parts_is_no_change(name, runs):
    expect_in(runs, PRESERVING, *SAME[name], function="f")
