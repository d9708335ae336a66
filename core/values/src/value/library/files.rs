//! Functions of libraries that read files, and what they give. A file that is not there is invented: as a value of the real
//! class with the columns that the code uses.

/// What a function gives that reads a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    Frame,
    /// A list of frames.
    Frames,
    Array,
}

/// By package and by the name of the function.
const READERS: &[(&str, Given, &[&str])] = &[
    (
        "pandas",
        Given::Frame,
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
    ("pandas", Given::Frames, &["read_html"]),
    ("numpy", Given::Array, &["fromfile", "genfromtxt", "load", "loadtxt"]),
];

/// What a function of a package gives, if it reads a file.
pub fn given_by(package: &str, function: &str) -> Option<Given> {
    let is_it = |(own, _, names): &&(&str, Given, &[&str])| *own == package && names.contains(&function);
    READERS.iter().find(is_it).map(|(_, given, _)| *given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_gives_is_known_by_its_package() {
        assert_eq!(given_by("pandas", "read_csv"), Some(Given::Frame));
        assert_eq!(given_by("pandas", "read_html"), Some(Given::Frames));
        assert_eq!(given_by("numpy", "read_csv"), None);
        assert_eq!(given_by("pandas", "concat"), None);
    }
}
