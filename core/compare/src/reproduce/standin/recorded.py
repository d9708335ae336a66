"""The data that a reproducer's file has before its parts: the record of the witness, and where the code looks."""

ANSWERS = {}
RENAMED = {}
EXCEPTIONS = set()
EXTENDED = set()
METHODS = set()
STOPPED = set()
CONVERSIONS = {}
PURE = {}
IMPORTED = set()
ONLY_PURE = False
names = {}
SUBJECT = "new"
