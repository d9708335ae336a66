"""How the kernel shows results."""

from twincell.shell import ZMQShellDisplayHook

__all__ = ["ZMQShellDisplayHook"]
