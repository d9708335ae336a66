//! Messages from the threads of a study to the thread that runs it.

use std::io;

use twincell_driver::files;

use crate::change::{Change, Row};
use crate::find::ComparedChange;

/// A change on its way, with the key of its row.
pub(crate) struct Job {
    pub change: Change,
    pub key: String,
}

pub(crate) enum Event {
    Read(Box<Row>, String),
    /// The input has ended, or its rest cannot be read.
    End(Option<io::Error>),
    Compared(Box<(Job, ComparedChange)>),
    Broken(Broken),
}

/// The reason why a study ends early. Its findings are in the store.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("cannot read the changes to their end: {}", files::reason(.0))]
    Input(#[source] io::Error),
    #[error("{0}")]
    Store(String),
    #[error("{0}")]
    Workers(String),
}
