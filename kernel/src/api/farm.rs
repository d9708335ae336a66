//! Python executors as farms, and the functions that run in their workers. `python/twincell/_executor.py` speaks to
//! executors.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use twincell_compare::{CompareOptions, Continue, Source};
use twincell_driver::options::Options;
use twincell_driver::warm::{Engine, Environment};
use twincell_study::farm::{Ended, Farm, Trouble, answer_chunk};
use twincell_study::find::find;
use twincell_study::job::refused;
use twincell_study::key::Keys;

use super::environment;
use super::errors::{call_python, raised};
use super::signals::Signals;

/// A Python executor.
pub struct PyFarm {
    farm: Py<PyAny>,
    chunks: usize,
}

impl PyFarm {
    /// Checks the workers of an executor. `executor` may be a function that makes one.
    pub fn new(executor: &Bound<'_, PyAny>, options: &str) -> PyResult<Self> {
        let farm = call_python(executor.py(), "twincell._executor", "Farm", (executor, options))?;
        let chunks = farm.getattr("chunks")?.extract()?;
        Ok(Self { farm: farm.unbind(), chunks })
    }
}

/// The workers at an address, `dask://HOST:PORT`, for some options. An error is one line for people, or
/// nothing if the user interrupted the wait for workers.
pub fn at(address: &str, options: &Options) -> Result<Box<dyn Farm>, Option<String>> {
    let options = options_as_json(options).map_err(Some)?;
    Python::attach(|py| {
        let connected =
            || PyFarm::new(&py.import("twincell._executor")?.call_method1("connect", (address,))?, &options);
        let is_stop = |error: &PyErr| error.is_instance_of::<PyKeyboardInterrupt>(py);
        connected()
            .map(|farm| Box::new(farm) as Box<dyn Farm>)
            .map_err(|error| (!is_stop(&error)).then(|| message(py, &error)))
    })
}

impl Farm for PyFarm {
    fn chunks(&self) -> usize {
        self.chunks
    }

    fn hand_out(&mut self, ticket: u64, chunk: String) -> Result<(), Trouble> {
        let refused: Option<(String, String)> =
            self.call(|farm| farm.call_method1("hand_out", (ticket, chunk))?.extract())?;
        refused.map_or(Ok(()), |(kind, reason)| Err(trouble(&kind, reason)))
    }

    fn ended(&mut self, patience: Duration) -> Result<Vec<Ended>, Trouble> {
        let (chunks, answers): (usize, Vec<(u64, String, String)>) = self.call(|farm| {
            let answers = farm.call_method1("ended", (patience.as_secs_f64(),))?.extract()?;
            Ok((farm.getattr("chunks")?.extract()?, answers))
        })?;
        self.chunks = chunks;
        let answer = |(ticket, kind, text): (u64, String, String)| match kind.as_str() {
            "done" => (ticket, Ok(text)),
            kind => (ticket, Err(trouble(kind, text))),
        };
        Ok(answers.into_iter().map(answer).collect())
    }

    fn renew(&mut self) -> Result<(), String> {
        Python::attach(|py| self.farm.bind(py).call_method0("renew").map(drop).map_err(|error| message(py, &error)))
    }

    fn leave(&mut self) {
        // What cannot be taken back ends by itself.
        let _ = Python::attach(|py| self.farm.bind(py).call_method0("leave").map(drop));
    }
}

impl Drop for PyFarm {
    fn drop(&mut self) {
        // Also where the study never began; once more changes nothing.
        self.leave();
    }
}

impl PyFarm {
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Trouble> {
        Python::attach(|py| work(self.farm.bind(py)).map_err(|error| Trouble::Useless(message(py, &error))))
    }
}

fn trouble(kind: &str, reason: String) -> Trouble {
    match kind {
        "broken" => Trouble::Broken(reason),
        "lost" => Trouble::Lost(reason),
        _ => Trouble::Useless(reason),
    }
}

/// Python's message for an error, in one line.
pub fn message(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Options in the form in which workers receive them: JSON, with paths that mean the same elsewhere. What a policy says
/// is among them, so that workers look for none.
pub fn options_as_json(options: &Options) -> Result<String, String> {
    let absolute =
        |path: &Option<PathBuf>| path.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let elsewhere = Options { model: absolute(&options.model), python: absolute(&options.python), ..options.clone() };
    serde_json::to_string(&elsewhere).map_err(|error| error.to_string())
}

fn from_json(options: &str) -> PyResult<Options> {
    serde_json::from_str(options).map_err(raised)
}

/// A fingerprint of what the results of this process depend on, besides the changes, to compare workers with the
/// caller. Raises `TwincellError` if this process shall compare and cannot.
#[pyfunction]
#[pyo3(signature = (options, *, compares = false))]
pub fn study_fingerprint(py: Python<'_>, options: &str, compares: bool) -> PyResult<String> {
    let (options, environment) = (from_json(options)?, environment::find(py)?);
    py.detach(|| {
        if compares {
            Engine::check_process().map_err(|error| error.to_string())?;
        }
        Keys::new(&options, &environment).map(|keys| keys.fingerprint())
    })
    .map_err(raised)
}

/// The options of studies for which this process gives the same results as the caller.
static KNOWN: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
/// The number of these options that are remembered.
const MOST_KNOWN: usize = 16;

/// Compares the changes of a chunk in a worker of an executor. Raises `TwincellError` if its results would differ from
/// those of the study with this [`study_fingerprint`].
#[pyfunction]
pub fn compare_chunk(py: Python<'_>, chunk: &str, options: &str, fingerprint: &str) -> PyResult<String> {
    let asked = (options.to_owned(), fingerprint.to_owned());
    let (options, environment) = (from_json(options)?, environment::find(py)?);
    // As many processes as there are cores share them: each does one thing at a time.
    let environment = Environment { threads: Some(1), ..environment };
    let mut signals = Signals::new();
    let answers = py.detach(|| {
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !known().contains(&asked) {
            if Keys::new(&options, &environment)?.fingerprint() != asked.1 {
                return Err(format!(
                    "a worker has another twincell, another Python, or another model at the same place: install twincell {} \
                     where the workers run, for {}",
                    env!("CARGO_PKG_VERSION"),
                    environment.version
                ));
            }
            let mut known = known();
            known.truncate(MOST_KNOWN - 1);
            known.insert(0, asked);
        }
        let engine = Engine::warm(&options, &environment).map_err(|error| error.to_string())?;
        let compare = |old: &Source, new: &Source, options: &CompareOptions, go_on: &mut dyn FnMut() -> Continue| {
            engine.compare(old, new, options, &mut |_| go_on()).map_err(refused)
        };
        let core = options.for_core();
        answer_chunk(chunk, &mut |change, key, wanted| {
            let mut go_on = || if signals.stop() { Continue::Stop } else { Continue::Yes };
            find(change, key, &compare, &core, wanted, &mut go_on)
        })
    });
    // What was stopped in the middle is no answer.
    match signals.raised {
        Some(interrupt) => Err(interrupt),
        None => answers.map_err(raised),
    }
}
