"""All comms."""

from twincell._comms import KernelCommManager as CommManager

__all__ = ["CommManager"]
