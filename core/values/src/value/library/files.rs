//! Functions of libraries that read files or ask servers, and what they give. What is not there is invented: as a value of the
//! real class, a table with the columns that the code uses.

use super::{FRAME, OF_HTTPX, OF_REQUESTS, POLARS_FRAME, POLARS_LAZY};

/// What a function gives that reads a file or asks a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A frame of this class.
    Frame(&'static str),
    /// A list of frames.
    Frames,
    Array,
    /// What a server answers, of this class.
    Answer(&'static str),
}

/// Functions and methods that ask a server.
const ASKING: &[&str] = &["delete", "get", "head", "options", "patch", "post", "put", "request", "send"];

/// Where these are: the module, what stands before their names in it, and the class of what they give.
const CLIENTS: &[(&str, &str, &str)] = &[
    ("requests", "", OF_REQUESTS),
    ("requests.api", "", OF_REQUESTS),
    ("requests.sessions", "Session.", OF_REQUESTS),
    ("httpx", "", OF_HTTPX),
    ("httpx._api", "", OF_HTTPX),
    ("httpx._client", "Client.", OF_HTTPX),
];

/// By package and by the name of the function.
const READERS: &[(&str, Given, &[&str])] = &[
    (
        "pandas",
        Given::Frame(FRAME),
        &[
            "read_clipboard",
            "read_csv",
            "read_excel",
            "read_feather",
            "read_fwf",
            "read_gbq",
            "read_hdf",
            "read_json",
            "read_orc",
            "read_parquet",
            "read_pickle",
            "read_sas",
            "read_spss",
            "read_sql",
            "read_sql_query",
            "read_sql_table",
            "read_stata",
            "read_table",
            "read_xml",
        ],
    ),
    (
        "polars",
        Given::Frame(POLARS_FRAME),
        &[
            "read_avro",
            "read_clipboard",
            "read_csv",
            "read_database",
            "read_database_uri",
            "read_delta",
            "read_excel",
            "read_ipc",
            "read_json",
            "read_ndjson",
            "read_ods",
            "read_parquet",
        ],
    ),
    ("polars", Given::Frame(POLARS_LAZY), &["scan_csv", "scan_delta", "scan_ipc", "scan_ndjson", "scan_parquet"]),
    ("pandas", Given::Frames, &["read_html"]),
    ("numpy", Given::Array, &["fromfile", "genfromtxt", "load", "loadtxt"]),
];

/// What a function of a module gives by its qualified name, if it reads a file or asks a server.
pub fn given_at(module: &str, qualified: &str) -> Option<Given> {
    let package = module.split('.').next().unwrap_or(module);
    let name = qualified.rsplit('.').next().unwrap_or(qualified);
    let is_it = |(own, before, _): &&(&str, &str, &str)| {
        *own == module && qualified.strip_prefix(*before).is_some_and(|name| ASKING.contains(&name))
    };
    let answer = || CLIENTS.iter().find(is_it).map(|(.., class)| Given::Answer(class));
    given_by(package, name).or_else(answer)
}

/// What a function of a package gives, if it reads a file.
pub fn given_by(package: &str, function: &str) -> Option<Given> {
    let is_it = |(own, _, names): &&(&str, Given, &[&str])| *own == package && names.contains(&function);
    READERS.iter().find(is_it).map(|(_, given, _)| *given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_a_server_is_known_by_its_module_and_qualified_name() {
        let (requests, httpx) = (Some(Given::Answer(OF_REQUESTS)), Some(Given::Answer(OF_HTTPX)));
        for (module, name, expected) in [
            ("requests.api", "get", requests),
            ("requests.sessions", "Session.send", requests),
            ("requests.adapters", "HTTPAdapter.send", None),
            ("requests.cookies", "RequestsCookieJar.get", None),
            ("requests.sessions", "Session.get_adapter", None),
            ("httpx", "post", httpx),
            ("httpx._api", "delete", httpx),
            ("httpx._client", "Client.request", httpx),
            ("httpx._models", "Headers.get", None),
            ("httpx._models", "Cookies.delete", None),
            ("pandas.io.parsers.readers", "read_csv", Some(Given::Frame(FRAME))),
        ] {
            assert_eq!(given_at(module, name), expected, "{module}.{name}");
        }
    }

    #[test]
    fn what_a_reader_gives_is_known_by_its_package() {
        assert_eq!(given_by("pandas", "read_csv"), Some(Given::Frame(FRAME)));
        assert_eq!(given_by("polars", "scan_csv"), Some(Given::Frame(POLARS_LAZY)));
        assert_eq!(given_by("pandas", "read_html"), Some(Given::Frames));
        assert_eq!(given_by("numpy", "read_csv"), None);
        assert_eq!(given_by("pandas", "concat"), None);
    }
}
