//! What the name of a file says of it.
//!
//! This is the one rule for checkouts, for copies and for what is closed. Code gets no file that git does not track and that
//! is hidden or has the name of a secret. A copy for a comparison has no hidden file at all.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Words that only secrets have in their names.
const SECRETS: [&str; 15] = [
    "secret",
    "secrets",
    "cred",
    "creds",
    "credential",
    "credentials",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "token",
    "tokens",
    "htpasswd",
    "netrc",
    "keystore",
];
/// Words in front of `key` or `keys` that say what the key opens.
const OPENERS: [&str; 8] = ["access", "account", "api", "private", "root", "service", "signing", "ssh"];
/// Endings of files with keys.
const KEYS: [&str; 8] = ["pem", "key", "p12", "pfx", "jks", "kdbx", "gpg", "env"];
/// How files with keys of SSH begin.
const SSH: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Whether a name is that of a hidden file or folder.
pub fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether any part of a path is hidden.
pub fn lies_hidden(path: &Path) -> bool {
    path.components().any(|part| matches!(part, Component::Normal(name) if is_hidden(name)))
}

/// Whether a file's name says that there is a secret in it: `credentials.json`, `server.key`. Modules are code, whatever they
/// are called.
pub fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if matches!(ending, "py" | "pyi" | "pyc" | "so" | "pyd" | "ipynb") {
        return false;
    }
    let words: Vec<&str> = name.split(|it: char| !it.is_ascii_alphanumeric()).collect();
    let is_key = |pair: &[&str]| match pair {
        [opener, "key" | "keys"] => OPENERS.contains(opener),
        pair => *pair == ["service", "account"],
    };
    let is_key_as_one = |word: &str| {
        let opener = word.strip_suffix("keys").or(word.strip_suffix("key"));
        opener.is_some_and(|opener| OPENERS.contains(&opener))
    };
    KEYS.contains(&ending)
        || SSH.iter().any(|start| name.starts_with(start))
        || words.iter().any(|word| SECRETS.contains(word) || is_key_as_one(word))
        || words.windows(2).any(is_key)
}

/// Whether code gets no file with this path, unless git tracks it.
pub fn is_kept_back(path: &Path) -> bool {
    lies_hidden(path) || path.file_name().is_some_and(is_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_others() {
        for name in [
            ".env",
            "a/.env",
            ".secrets/a",
            "credentials.json",
            "server.key",
            "prod.env",
            "id_rsa",
            "api-token",
            "creds.txt",
            "my-api-key.txt",
            "rootkey.csv",
            "service_account.json",
            "user_accessKeys.csv",
        ] {
            assert!(is_kept_back(Path::new(name)), "{name}");
        }
        for name in [
            "a.py",
            "secrets.py",
            "tokenizer.json",
            "keys.txt",
            "foreign_keys.csv",
            "monkey.txt",
            "_version.py",
            "data/passing.csv",
        ] {
            assert!(!is_kept_back(Path::new(name)), "{name}");
        }
    }
}
