//! SQLite files that somebody else may have made.
//!
//! The schema of such a file can hold code: triggers and views, generated columns, checks and indices with expressions that take
//! for ever. So a file is only used if its schema is word for word the expected one, and what SQLite does with it is bounded.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

/// Far beyond what tables of ours need.
const LIMITS: [(Limit, i32); 7] = [
    (Limit::SQLITE_LIMIT_LENGTH, 512 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 64 << 10),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 50),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    // A copy of a file is one.
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
];

/// Keeps a file from running anything. This comes before anything is read.
///
/// # Errors
///
/// What SQLite says.
pub fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, is_on)?;
    }
    for (limit, most) in LIMITS {
        connection.set_limit(limit, most)?;
    }
    Ok(())
}

/// Whether the schema of a file is what these statements make, and nothing else.
///
/// # Errors
///
/// What SQLite says.
pub fn has_schema(connection: &Connection, statements: &str) -> rusqlite::Result<bool> {
    let mut expected: Vec<String> =
        statements.split(';').map(without_blanks).filter(|statement| !statement.is_empty()).collect();
    // What SQLite makes by itself for a UNIQUE has no text.
    let mut query = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT ?1")?;
    let found = query.query_map([expected.len() as i64 + 1], |row| row.get::<_, String>(0))?;
    let mut found: Vec<String> =
        found.map(|sql| sql.map(|sql| without_blanks(&sql))).collect::<rusqlite::Result<_>>()?;
    expected.sort();
    found.sort();
    Ok(found == expected)
}

/// A statement as SQLite keeps it, without blanks: columns that were added later have others around them.
fn without_blanks(statement: &str) -> String {
    let text: String = statement.chars().filter(|character| !character.is_whitespace()).collect();
    text.replacen("IFNOTEXISTS", "", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT);
        CREATE INDEX by_b ON rows (b);";

    fn holds(statements: &str) -> bool {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(statements).unwrap();
        restrict(&connection).unwrap();
        has_schema(&connection, OURS).unwrap()
    }

    #[test]
    fn only_the_expected_schema_is_one() {
        assert!(holds(OURS));
        let table = "CREATE TABLE rows (id INTEGER PRIMARY KEY, a TEXT UNIQUE);";
        assert!(holds(&format!("{table} ALTER TABLE rows ADD COLUMN b TEXT; CREATE INDEX by_b ON rows (b);")));
        for more in [
            "",
            "CREATE INDEX by_b ON rows (b); CREATE VIEW v AS SELECT 1;",
            "CREATE INDEX by_b ON rows (b); CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows; END;",
            "CREATE INDEX by_b ON rows (abs(b));",
            "CREATE INDEX by_b ON rows (b); CREATE INDEX by_a ON rows (hex(a));",
        ] {
            assert!(!holds(&format!("{table} ALTER TABLE rows ADD COLUMN b TEXT; {more}")), "{more}");
        }
        for column in ["b TEXT AS (hex(a))", "b TEXT CHECK (abs(b))", "b TEXT DEFAULT (random())", "b TEXT, c"] {
            let table = format!("CREATE TABLE rows (id INTEGER PRIMARY KEY, a TEXT UNIQUE, {column});");
            assert!(!holds(&format!("{table} CREATE INDEX by_b ON rows (b);")), "{column}");
        }
    }
}
