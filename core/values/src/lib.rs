//! Values that may be injected: what they are, what code says of them, and how they are drawn.
//!
//! [`value`] has the twelve abstract values, [`value::Recipe`]s for concrete ones, and [`value::Decision`]s, the answers to
//! questions about an access path. [`reading`] tells from syntax alone what code does with each value. [`drawing::Draw`]
//! makes decisions from a seed, from what a [`predictor::Predictor`] expects and from these uses: each access path has a
//! random stream of its own, so that a decision depends neither on order nor on what else is drawn.
//!
//! Deliberately absent: Python objects (the runtime makes them of recipes), and networks (other crates implement the trait).
//!
//! ```
//! use twincell_syntax::{functions, instrument::instrument};
//! use twincell_values::reading::{literals, read};
//! use twincell_values::value::Recipe;
//!
//! let (found, _) = functions("def greet(user, names):\n    for name in names:\n        user.say('hello', name)\n");
//! let sites = instrument(&found[0])?.sites;
//! let reading = read(&found[0].text, &sites.sites);
//! let names = sites.sites.iter().position(|site| site.path == "names").unwrap();
//! assert!(reading.uses[names].iterated);
//! assert_eq!(literals(&[&found[0]]), [Recipe::Str("hello".into())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod drawing;
pub mod predicted;
pub mod predictor;
pub mod reading;
pub mod value;
