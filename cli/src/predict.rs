//! `twincell predict`: the predictions for a file.

use std::io::Write;
use std::path::PathBuf;

use clap::ArgMatches;
use serde_json::{Value, json};
use twincell_driver::failure::Failure;
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_driver::waiting;
use twincell_driver::warm;
use twincell_values::predicted::{Predicted, SitePrediction};
use twincell_widgets::{plain_sentence, predictions_text};

use crate::session::{Abort, Session, UNCHANGED};

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = session.read_options(matches, Job::Predict)?;
    // clap has checked that it is given.
    let path = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let text = files::read_source(&path).map_err(Abort::Failed)?;
    let environment = session.environment.clone();
    let predicted =
        waiting::interruptible(move |stop| warm::predict(&text, &options, &environment, stop), session.interrupted);
    let predicted = predicted.map_err(|failure| match failure {
        Failure::Stopped => Abort::Interrupted,
        failure => Abort::new(failure),
    })?;
    let nothing = predicted.errors.first().filter(|_| predicted.sites.is_empty());
    if let Some(error) = nothing {
        let message = format!("{} is not valid Python: line {}: {}", path.display(), error.line, error.message);
        return Err(Abort::Failed(message));
    }
    if matches.get_flag("json") {
        for error in &predicted.errors {
            let message = format!("{}, line {}: {}", path.display(), error.line, error.message);
            writeln!(session.err, "twincell: {}", plain_sentence(&message))?;
        }
        session.write_json(&listed(&predicted))?;
    } else {
        write!(session.out, "{}", predictions_text(&predicted))?;
    }
    Ok(UNCHANGED)
}

/// One object for each site, for other programs.
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
