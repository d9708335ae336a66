"""Records what values the functions of real packages have, while the packages' own tests run.

    python -m models.train.collect OUT

`listing` reads which packages, `fetch` makes each ready, `sandboxed` runs its tests with a time limit, `traces` joins
and writes what was seen, `manifest` knows what is done. What runs among the package's own code is in `inside/`: it has
no imports of ours, because the tests of a package bring their own folders and names along.
"""
