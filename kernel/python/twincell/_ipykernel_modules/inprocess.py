"""Not offered: a kernel in the process of its client."""

raise ImportError("ipykernel.inprocess cannot work within twincell's kernel; it works in a program that no kernel runs")
