//! The files that `make widgets` builds from `widgets/js` and that are committed.

/// The interactive view as one ES module with anywidget's `render`. Built from `widgets/js` by `make widgets`.
pub const MODULE: &str = include_str!("../dist/widget.js");

/// A small ES module for anywidget that finds [`MODULE`] in the page, in the view's model or by asking the kernel.
pub const LOADER: &str = include_str!("../dist/loader.js");

/// `html/style.css`, made small: each output in a saved notebook holds it.
pub(crate) const STYLE: &str = include_str!("../dist/static.css");
