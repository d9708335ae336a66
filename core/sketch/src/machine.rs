//! What Python tells of the machine, the moment and chance: another one elsewhere, and at another time.

/// Attributes, and functions that need nothing to be told, by dotted name.
const NAMES: &[&str] = &[
    "os.cpu_count()",
    "os.geteuid()",
    "os.getlogin()",
    "os.getuid()",
    "os.name",
    "os.sep",
    "platform.machine()",
    "platform.node()",
    "platform.python_implementation()",
    "platform.python_version()",
    "platform.release()",
    "platform.system()",
    "random.choice()",
    "random.randint()",
    "random.random()",
    "random.randrange()",
    "random.uniform()",
    "sys.byteorder",
    "sys.maxsize",
    "sys.platform",
    "sys.version",
    "sys.version_info",
    "time.localtime()",
    "time.time()",
];

/// Whether what has this dotted name does.
pub(crate) fn tells(origin: &str) -> bool {
    NAMES.contains(&origin)
}
