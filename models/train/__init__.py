"""How the network that predicts abstract values is made, from packages to weights; README.md has the commands."""
