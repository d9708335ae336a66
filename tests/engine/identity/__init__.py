"""Tables of changes that callers notice, and of refactorings beside them."""
