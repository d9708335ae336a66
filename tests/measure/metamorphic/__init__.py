"""Changes whose label is known because they were made by rule: refactorings and mutations of real functions."""
