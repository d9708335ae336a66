"""Seeded faults: does the gate catch a fault of one line? The README beside this file says how to ask."""
