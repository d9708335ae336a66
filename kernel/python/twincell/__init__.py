"""twincell: did this change alter behavior?"""

from ._twincell import __version__

__all__ = ["__version__"]
