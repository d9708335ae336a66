use twincell_core::report::Comparison;
pub struct TextOptions { pub color: bool, pub width: usize }
pub fn text(c: &Comparison, _o: &TextOptions) -> String { c.sentence.clone() }
pub fn mime_bundle(_c: &Comparison) -> serde_json::Value { serde_json::Value::Null }
pub fn html_fragment(_c: &Comparison) -> String { String::new() }
pub fn html_page(_c: &Comparison, _t: &str) -> String { String::new() }
