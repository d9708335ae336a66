//! Projects' own tests at a version. They need a Python with pytest: TWINCELL_PYTHON, or `python3`.

mod common;
mod hostile;
mod session;
mod suite;
