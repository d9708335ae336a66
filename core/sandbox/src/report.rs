//! What the system enforces of a sandbox, and what it does not, as plain data.

use serde::{Deserialize, Serialize};

/// What a worker enforces on itself, for reports and `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// e.g. `Landlock ABI 7`, `not available: ...`
    pub filesystem: String,
    pub network: String,
    pub programs: String,
    pub memory: String,
    pub time: String,
    /// What the operating system does not enforce. Foreign code runs only where this is empty, unless the user says
    /// otherwise.
    pub lacks: Vec<Lack>,
}

/// Something that the operating system does not enforce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    pub mechanism: Mechanism,
    /// For people: `the kernel does not have it`.
    pub reason: String,
}

/// What the sandbox is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// Which files may be read and written.
    Landlock,
    /// Which system calls may be made.
    Seccomp,
    /// Privileges that are given up.
    Privileges,
    /// Limits of memory, processor time, files.
    Limits,
    /// A network, temporary folders and numbers of processes of its own, for tests of projects.
    Namespaces,
}

impl std::fmt::Display for Mechanism {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Mechanism::Landlock => "Landlock",
            Mechanism::Seccomp => "seccomp",
            Mechanism::Privileges => "giving up privileges",
            Mechanism::Limits => "resource limits",
            Mechanism::Namespaces => "namespaces",
        })
    }
}

impl std::fmt::Display for Lack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "no {} ({})", self.mechanism, self.reason)
    }
}

impl SandboxReport {
    /// Whether everything is enforced.
    pub fn is_complete(&self) -> bool {
        self.lacks.is_empty()
    }

    /// The mechanisms that are missing.
    pub fn lacking(&self) -> Vec<Mechanism> {
        self.lacks.iter().map(|lack| lack.mechanism).collect()
    }

    /// What is missing, in one line: `no Landlock (the kernel does not have it)`. `None` if nothing is.
    pub fn missing(&self) -> Option<String> {
        let lacks: Vec<String> = self.lacks.iter().map(Lack::to_string).collect();
        (!lacks.is_empty()).then(|| lacks.join(", "))
    }
}

/// What is enforced of a project's tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteReport {
    pub network: Network,
    pub namespaces: Namespaces,
    /// What the operating system does not enforce. Without namespaces tests can do less, or leave processes behind that
    /// end a little later. Where they could signal the user's processes too, they run only if the user says so.
    pub lacks: Vec<Lack>,
}

impl SuiteReport {
    /// What tests can do depends on this, and not on why something is missing.
    pub fn kind(&self) -> (Network, Namespaces, Vec<Mechanism>) {
        (self.network, self.namespaces, self.lacks.iter().map(|lack| lack.mechanism).collect())
    }
}

/// The namespaces that tests have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespaces {
    All,
    /// Without one of processes: a container in which parts of `/proc` are hidden allows no other `/proc`.
    SharedProcesses,
    None,
}

/// What tests reach by sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Whatever the user reaches.
    Open,
    /// Themselves, under 127.0.0.1 and ::1.
    Own,
    /// Nothing.
    None,
}
