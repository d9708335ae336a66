//! What a text uses of the files around it: the modules of its project that it imports, and, where there is no project, the
//! modules and files beside it.
//!
//! Nothing here knows pairs, git or pytest.

mod around;
mod beside;

pub use around::{imported, places};
pub use beside::{Beside, beside};
