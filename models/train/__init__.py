"""Makes the network that predicts abstract values, from packages to weights. README.md has the commands."""
