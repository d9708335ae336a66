"""The kernel."""

from twincell._answers import IPythonKernel

__all__ = ["IPythonKernel", "Kernel"]

Kernel = IPythonKernel
