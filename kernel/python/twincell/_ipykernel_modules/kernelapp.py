"""The application that started the kernel."""

from twincell._app import IPKernelApp

__all__ = ["IPKernelApp"]
