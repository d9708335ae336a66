"""One comm."""

from comm.base_comm import BaseComm

from twincell._comms import Comm

__all__ = ["BaseComm", "Comm"]
