"""The kernel's comms."""

from twincell._comms import Comm
from twincell._comms import KernelCommManager as CommManager

__all__ = ["Comm", "CommManager"]
