"""Behavior-preserving changes that tools make, and how twincell judges them."""
