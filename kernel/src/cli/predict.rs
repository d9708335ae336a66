//! `twincell predict`: what a predictor says of a file.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Value, json};
use twincell_core::engine::Stop;
use twincell_core::predicted::{Predicted, SitePrediction};
use twincell_widgets::{plain_sentence, predictions_text};

use super::{Abort, Session, UNCHANGED, read_options};
use crate::options::{Job, Options};
use crate::warm;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = read_options(matches, Job::Predict)?;
    // clap has seen to it that it is there.
    let path = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let text = crate::files::read_source(&path).map_err(Abort::Failed)?;
    let predicted = predicted(text, options, session)?;
    if matches.get_flag("json") {
        for error in &predicted.errors {
            let told = format!("{}, line {}: {}", path.display(), error.line, error.message);
            writeln!(session.err, "twincell: {}", plain_sentence(&told))?;
        }
        writeln!(session.out, "{}", serde_json::to_string_pretty(&listed(&predicted)).map_err(Abort::new)?)?;
    } else {
        write!(session.out, "{}", predictions_text(&predicted))?;
    }
    let nothing = predicted.sites.is_empty() && !predicted.errors.is_empty();
    if nothing { Err(Abort::Failed(format!("{} is not valid Python", path.display()))) } else { Ok(UNCHANGED) }
}

/// How often an interrupt is looked for.
const INTERVAL: Duration = Duration::from_millis(20);
/// Room for the thread; only what is used takes memory.
const STACK: usize = 16 << 20;

/// Predicts on a thread of its own, since a long file takes seconds; an interrupt does not wait for it.
fn predicted(text: String, options: Options, session: &mut Session<'_>) -> Result<Predicted, Abort> {
    let (stop, environment) = (Stop::default(), session.environment.clone());
    let (sender, receiver) = mpsc::channel();
    let stopped = stop.clone();
    let thread = std::thread::Builder::new().name("twincell-predict".into()).stack_size(STACK);
    let work = move || {
        // Nobody listens any more after an interrupt.
        let _ = sender.send(warm::predict(&text, &options, &environment, &stopped));
    };
    thread.spawn(work).map_err(Abort::new)?;
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(predicted) => return predicted.map_err(Abort::new),
            Err(RecvTimeoutError::Disconnected) => return Err(Abort::new("the prediction ended without a result")),
            Err(RecvTimeoutError::Timeout) if (session.interrupted)() => {
                stop.ask();
                return Err(Abort::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// One object a site, for other programs.
pub fn listed(predicted: &Predicted) -> Vec<Value> {
    let one = |site: &SitePrediction| {
        json!({
            "function": site.function,
            "start": site.start,
            "end": site.end,
            "kind": site.kind,
            "probabilities": site.probabilities,
        })
    };
    predicted.sites.iter().map(one).collect()
}
