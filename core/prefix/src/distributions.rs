//! Which distribution brings a library that code imports.

/// Distributions that are called otherwise than what one imports from them, by the dotted path of the module.
const DISTRIBUTIONS: &[(&str, &str)] = &[
    ("Bio", "biopython"),
    ("Crypto", "pycryptodome"),
    ("Cryptodome", "pycryptodomex"),
    ("MySQLdb", "mysqlclient"),
    ("OpenSSL", "pyOpenSSL"),
    ("PIL", "Pillow"),
    ("Xlib", "python-xlib"),
    ("attr", "attrs"),
    ("babel", "Babel"),
    ("bs4", "beautifulsoup4"),
    ("cairo", "pycairo"),
    ("consul", "python-consul"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("decouple", "python-decouple"),
    ("discord", "discord.py"),
    ("django_filters", "django-filter"),
    ("dns", "dnspython"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("faiss", "faiss-cpu"),
    ("fitz", "PyMuPDF"),
    ("flask_cors", "Flask-Cors"),
    ("flask_login", "Flask-Login"),
    ("flask_sqlalchemy", "Flask-SQLAlchemy"),
    ("flask_wtf", "Flask-WTF"),
    ("git", "GitPython"),
    ("gi", "PyGObject"),
    ("github", "PyGithub"),
    ("gitlab", "python-gitlab"),
    ("google.auth", "google-auth"),
    ("google.cloud.bigquery", "google-cloud-bigquery"),
    ("google.cloud.firestore", "google-cloud-firestore"),
    ("google.cloud.logging", "google-cloud-logging"),
    ("google.cloud.pubsub_v1", "google-cloud-pubsub"),
    ("google.cloud.storage", "google-cloud-storage"),
    ("google.generativeai", "google-generativeai"),
    ("google.oauth2", "google-auth"),
    ("google.protobuf", "protobuf"),
    ("googleapiclient", "google-api-python-client"),
    ("grpc", "grpcio"),
    ("igraph", "python-igraph"),
    ("jose", "python-jose"),
    ("jwt", "PyJWT"),
    ("kafka", "kafka-python"),
    ("ldap", "python-ldap"),
    ("magic", "python-magic"),
    ("markdown", "Markdown"),
    ("memcache", "python-memcached"),
    ("mpl_toolkits", "matplotlib"),
    ("multipart", "python-multipart"),
    ("nacl", "PyNaCl"),
    ("OpenGL", "PyOpenGL"),
    ("osgeo", "GDAL"),
    ("paho", "paho-mqtt"),
    ("pkg_resources", "setuptools"),
    ("pptx", "python-pptx"),
    ("psycopg2", "psycopg2-binary"),
    ("pwn", "pwntools"),
    ("pythoncom", "pywin32"),
    ("requests_oauthlib", "requests-oauthlib"),
    ("rest_framework", "djangorestframework"),
    ("ruamel.yaml", "ruamel.yaml"),
    ("serial", "pyserial"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("slugify", "python-slugify"),
    ("socketio", "python-socketio"),
    ("socks", "PySocks"),
    ("speech_recognition", "SpeechRecognition"),
    ("telegram", "python-telegram-bot"),
    ("usb", "pyusb"),
    ("websocket", "websocket-client"),
    ("werkzeug", "Werkzeug"),
    ("win32api", "pywin32"),
    ("win32com", "pywin32"),
    ("wx", "wxPython"),
    ("yaml", "PyYAML"),
    ("zmq", "pyzmq"),
    ("zope.interface", "zope.interface"),
];

/// Packages that many distributions share, so that their own name says nothing.
const SHARED: &[&str] = &["azure", "backports", "google", "ruamel", "sphinxcontrib", "zope"];

/// The module that has to be there for an import of a dotted path, and the distribution that brings it, if that is known.
pub(crate) fn distribution(dotted: &str) -> (String, Option<String>) {
    let is_within =
        |module: &str| dotted.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let longest = DISTRIBUTIONS.iter().filter(|(module, _)| is_within(module)).max_by_key(|(module, _)| module.len());
    if let Some((module, distribution)) = longest {
        return ((*module).to_owned(), Some((*distribution).to_owned()));
    }
    let root = dotted.split('.').next().unwrap_or_default();
    if SHARED.contains(&root) {
        return (dotted.to_owned(), None);
    }
    // What installers take for a name. One with an underscore in front is nobody's own library.
    let is_name = root.starts_with(|first: char| first.is_ascii_alphabetic())
        && root.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (root.to_owned(), is_name.then(|| root.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_called_as_its_library_unless_it_is_known_to_be_another() {
        let of = |dotted: &str| {
            let (module, distribution) = distribution(dotted);
            (module, distribution.unwrap_or_default())
        };
        let is = |module: &str, distribution: &str| (module.to_owned(), distribution.to_owned());
        assert_eq!(of("yaml.constructor"), is("yaml", "PyYAML"));
        assert_eq!(of("requests.adapters"), is("requests", "requests"));
        assert_eq!(of("google.cloud.storage.Client"), is("google.cloud.storage", "google-cloud-storage"));
        assert_eq!(of("google.other"), is("google.other", ""));
        assert_eq!(of("yamllint"), is("yamllint", "yamllint"));
        assert_eq!((of("_private"), of("größe")), (is("_private", ""), is("größe", "")));
    }
}
