"""The kernel's shell."""

from twincell._kernel_magics import KernelMagics
from twincell.shell import ZMQDisplayPublisher, ZMQInteractiveShell

__all__ = ["KernelMagics", "ZMQDisplayPublisher", "ZMQInteractiveShell"]
