"""The twelve abstract values, in the order of every file and every tensor."""

CLASSES = (
    "none",
    "bool",
    "int",
    "float",
    "str",
    "list",
    "tuple",
    "dict",
    "set",
    "callable",
    "resource",
    "object",
)
NUMBER = {name: number for number, name in enumerate(CLASSES)}
