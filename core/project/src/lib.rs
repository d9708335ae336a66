//! What a text uses of the files around it: the modules of its project that it imports, and, where there is no project, the
//! modules and files beside it.
//!
//! Nothing here knows pairs, git or pytest.

mod local_imports;
mod project_discovery;

pub use local_imports::{Beside, beside};
pub use project_discovery::{imported, places};
