"""Not offered: a kernel inside of a program."""

raise ImportError("twincell's kernel embeds no other kernel; embed_kernel works in a program that no kernel runs")
