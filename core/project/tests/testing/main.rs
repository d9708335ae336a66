//! Projects' own tests at a version. They need a Python with pytest: TWINCELL_PYTHON, or `python3`. Without one, tests that
//! need it say so and pass.

mod common;
mod session;
mod suite;
