//! Values that may be injected: what they are, what code reveals about them, and how they are drawn.
//!
//! [`path::AccessPath`] says how code reaches a value, and [`path::Question`] what an execution asks of it.
//! [`value`] has the twelve abstract values, [`value::Recipe`]s for concrete ones, and [`value::Decision`]s, the
//! answers to questions about an access path. [`reading`] infers from syntax alone how code uses each value.
//! [`drawing::Draw`] makes decisions from a seed, from the predictions of a [`predictor::Predictor`] and from these
//! uses. Each access path has its own random stream, so that a decision depends neither on order nor on other draws.
//!
//! Deliberately absent: Python objects (the runtime makes them from recipes), and networks (other crates implement the
//! trait).
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
pub mod language_model;
pub mod path;
pub mod predicted;
pub mod predictor;
pub mod reading;
pub mod value;
