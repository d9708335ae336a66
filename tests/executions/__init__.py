"""One execution at a time: a program and its decisions in, one record out, as a text to read."""
