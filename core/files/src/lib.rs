//! Files in places where others can write, and files that are for nobody else.
//!
//! - [`inside`]: files below a folder in which hostile code may put a link into the place of anything at any time.
//! - [`outputs`]: files that the user names. No link of a repository is followed, and each file is replaced as a whole.
//! - [`private`]: folders and files of twincell's own, which no other user reads or writes.
//! - [`names`]: which files are hidden, and which names say that there is a secret.
//! - [`databases`]: SQLite files that somebody else may have made.
//! - [`runner`]: output in which nothing is a command to a workflow.
//! - [`account`]: the home folders of the user.
//!
//! ```
//! let folder = twincell_files::private::temporary("example-")?;
//! let page = folder.path().join("page.html");
//! twincell_files::outputs::write(&page, b"<p>", twincell_files::runner::TextKind::Markup)?;
//! assert_eq!(twincell_files::inside::read(folder.path(), "page.html".as_ref(), 10)?.unwrap(), b"<p>");
//! assert!(twincell_files::inside::read(folder.path(), "../page.html".as_ref(), 10).is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod account;
pub mod databases;
pub mod inside;
pub mod names;
pub mod outputs;
pub mod private;
pub mod runner;
