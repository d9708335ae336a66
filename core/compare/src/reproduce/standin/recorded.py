"""What the file of a reproducer itself says, before its parts: the record of the witness, and where the code looks."""

ANSWERS = {}
RENAMED = {}
EXCEPTIONS = set()
EXTENDED = set()
METHODS = set()
STOPPED = set()
PURE = {}
IMPORTED = set()
ONLY_PURE = False
names = {}
