"""Figures, of which the package matplotlib-inline is in charge."""
