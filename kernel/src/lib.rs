//! The Python extension module `twincell._twincell`.
