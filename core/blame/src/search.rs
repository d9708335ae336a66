//! The search: which commit of a history changed what the call gives.

use std::collections::HashMap;
use std::time::Instant;

use twincell_engine::{Continue, EngineError};
use twincell_repo::{CommitId, Repo, RepoError};

use crate::bisect::{Bounds, Verdict};
use crate::changed_text::changed_text;
use crate::follow::{Follower, Found, Presence, Texts};
use crate::probe::{self, Probe};
use crate::result::{Answer, Blame, CommitInfo, Culprit, Cut, FORMAT, Place, Skip, State, Step, Value};
use crate::run::same_value;
use crate::{BlameError, BlameOptions, Decode, Progress, Request};

/// The maximum number of commits of a history.
const MAX_COMMITS: usize = 100_000;
/// How many merges are followed into the lines that they brought, one within the other.
const MAX_MERGES: usize = 20;
/// The maximum number of commits that are named where one of them must be it.
const MAX_NAMED: usize = 50;
/// For how many commits the function is followed at once.
const NEXT: usize = 64;

/// Why a search does not go on.
enum End {
    Cut(Cut),
    Error(BlameError),
}

impl<E: Into<BlameError>> From<E> for End {
    fn from(error: E) -> Self {
        match error.into() {
            BlameError::Engine(EngineError::Stopped) => End::Cut(Cut::Stopped),
            error => End::Error(error),
        }
    }
}

struct Search<'a, 'r> {
    repo: &'r Repo,
    probe: &'a mut dyn Probe,
    decode: Decode,
    options: &'a BlameOptions,
    until: Instant,
    progress: &'a mut dyn FnMut(Progress) -> Continue,
    texts: Texts,
    /// The place and the value at the newer end.
    place: Place,
    value: Option<Value>,
    states: HashMap<(CommitId, Place), State>,
    steps: Vec<Step>,
}

/// Part of a history that holds the change: the last commit that gives the value, and the first one behind that does not.
struct Change {
    line: Vec<CommitId>,
    bounds: Bounds,
    other: usize,
    after: Found,
    before: Found,
}

pub(crate) fn blame(
    request: &Request<'_>,
    probe: &mut dyn Probe,
    options: &BlameOptions,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Blame, BlameError> {
    let repo = request.repo;
    let line = repo.line(request.newest, request.oldest, MAX_COMMITS)?;
    if let Some(oldest) = request.oldest
        && line.last() != Some(&oldest)
    {
        let (oldest, newest) = (short(oldest), short(request.newest));
        return Err(BlameError::NotBefore { oldest, newest });
    }
    let mut search = Search {
        repo,
        probe,
        decode: request.decode,
        options,
        until: Instant::now() + options.deadline,
        progress,
        texts: Texts::default(),
        place: request.place.clone(),
        value: None,
        states: HashMap::new(),
        steps: vec![],
    };
    let mut follower = Follower::at(repo, request.decode, line, request.place.clone());
    let value = search.newest(&mut follower, request)?;
    let count = follower.line().len();
    let mut cut = None;
    let answer = match search.answer(&mut follower, request.oldest.is_some(), &mut cut) {
        Ok(answer) => answer,
        Err(End::Cut(why)) => {
            cut = Some(why);
            let oldest = search.info(follower.line()[0])?;
            Answer::Same { oldest }
        }
        Err(End::Error(error)) => return Err(error),
    };
    let asked = search.probe.asked();
    Ok(Blame {
        format: FORMAT,
        place: request.place.clone(),
        call: asked.call,
        witness: asked.values,
        newest: search.info(request.newest)?,
        value,
        commits: count,
        has_range: request.oldest.is_some(),
        answer,
        steps: search.steps,
        cut,
    })
}

/// The first characters of a commit's id, which people write.
fn short(id: CommitId) -> String {
    id.to_string()[..10].to_owned()
}

impl Search<'_, '_> {
    /// What the call gives at the newer end.
    fn newest(&mut self, follower: &mut Follower<'_>, request: &Request<'_>) -> Result<Value, BlameError> {
        let commit = || short(request.newest);
        match self.state(follower, 0) {
            Ok(State::Gave(value)) => {
                self.value = Some(value.clone());
                Ok(value)
            }
            Ok(State::Absent) => {
                let (place, commit) = (request.place.clone(), commit());
                Err(match follower.find(0, &mut self.texts)?.file {
                    None => BlameError::NoFile { file: place.file, commit },
                    Some(file) => {
                        let similar = follower.similar(file, &place.function)?;
                        BlameError::NoFunction { place, commit, similar }
                    }
                })
            }
            Ok(State::Skipped(Skip::Varies { one, other })) => Err(BlameError::Varies { commit: commit(), one, other }),
            Ok(State::Skipped(skip)) => Err(BlameError::NotAtEnd { commit: commit(), skip: Box::new(skip) }),
            Err(End::Cut(_)) => Err(EngineError::Stopped.into()),
            Err(End::Error(error)) => Err(error),
        }
    }

    fn answer(&mut self, follower: &mut Follower<'_>, has_range: bool, cut: &mut Option<Cut>) -> Result<Answer, End> {
        let last = follower.line().len() - 1;
        let mut bounds = Bounds::default();
        let ended = self.bisect(follower, &mut bounds, last, !has_range);
        if let Err(End::Cut(why)) = ended {
            *cut = Some(why);
        } else {
            ended?;
        }
        if has_range && bounds.skipped.contains(&last) {
            self.check_far_end(follower, last)?;
        }
        let Some(other) = bounds.other else {
            // Nothing changed it, as far as is known.
            if cut.is_none() && bounds.is_open(last) {
                *cut = Some(Cut::Skips);
            } else if cut.is_none() && !has_range && (self.repo.is_shallow() || last + 1 == MAX_COMMITS) {
                *cut = Some(Cut::History);
            }
            return Ok(Answer::Same { oldest: self.info(follower.line()[bounds.same])? });
        };
        let after = follower.find(bounds.same, &mut self.texts)?;
        let before = follower.find(other, &mut self.texts)?;
        let mut change = Change { line: follower.line().to_vec(), bounds, other, after, before };
        let mut merge = None;
        for _ in 0..MAX_MERGES {
            let is_one = change.bounds.same + 1 == change.other;
            let commit = change.line[change.bounds.same];
            if cut.is_some() || !is_one || self.repo.find(commit)?.parents() < 2 {
                break;
            }
            match self.within(commit, &change) {
                Ok(Some(inner)) => {
                    merge = merge.or(Some(commit));
                    change = inner;
                }
                Ok(None) => break,
                Err(End::Cut(why)) => *cut = Some(why),
                Err(error) => return Err(error),
            }
        }
        self.conclude(change, merge, cut.is_some())
    }

    /// An older end of a range at which two runs differ is an error of the user's.
    fn check_far_end(&mut self, follower: &mut Follower<'_>, last: usize) -> Result<(), End> {
        let commit = follower.line()[last];
        let place = follower.find(last, &mut self.texts)?.place;
        match self.states.get(&(commit, place)) {
            Some(State::Skipped(Skip::Varies { one, other })) => {
                let (one, other) = (one.clone(), other.clone());
                Err(End::Error(BlameError::Varies { commit: short(commit), one, other }))
            }
            _ => Ok(()),
        }
    }

    /// Finds the change in a line, whose first commit gives the value.
    fn bisect(
        &mut self,
        follower: &mut Follower<'_>,
        bounds: &mut Bounds,
        last: usize,
        gallops: bool,
    ) -> Result<(), End> {
        let mut judge = |at: usize| {
            let state = self.state(follower, at)?;
            Ok(self.verdict(&state))
        };
        match gallops {
            true => bounds.gallop(last, &mut judge)?,
            false => bounds.far_end(last, &mut judge)?,
        }
        bounds.narrow(&mut judge)
    }

    fn verdict(&self, state: &State) -> Verdict {
        match (state, &self.value) {
            (State::Gave(value), Some(newest)) => match same_value(value, newest) {
                Some(true) => Verdict::Same,
                Some(false) => Verdict::Other,
                None => Verdict::Skip,
            },
            (State::Gave(_) | State::Absent, _) => Verdict::Other,
            (State::Skipped(_), _) => Verdict::Skip,
        }
    }

    /// What the call does at a commit of a line.
    fn state(&mut self, follower: &mut Follower<'_>, at: usize) -> Result<State, End> {
        let commit = follower.line()[at];
        while follower.known() < at {
            self.check()?;
            follower.find(at.min(follower.known() + NEXT), &mut self.texts)?;
        }
        let found = follower.find(at, &mut self.texts)?;
        let key = (commit, found.place.clone());
        if let Some(known) = self.states.get(&key) {
            return Ok(known.clone());
        }
        if self.steps.len() >= self.options.runs as usize {
            return Err(End::Cut(Cut::Budget));
        }
        self.check()?;
        let state = probe::state(self.probe, self.repo, self.decode, commit, &found)?;
        self.states.insert(key, state.clone());
        let place = (found.place != self.place).then_some(found.place);
        self.steps.push(Step { commit: self.info(commit)?, place, state: state.clone() });
        Ok(state)
    }

    /// Whether the search is to go on.
    fn check(&mut self) -> Result<(), End> {
        if Instant::now() >= self.until {
            return Err(End::Cut(Cut::Deadline));
        }
        match (self.progress)(Progress { runs: self.steps.len() }) {
            Continue::Stop => Err(End::Cut(Cut::Stopped)),
            Continue::Yes => Ok(()),
        }
    }

    /// The change within the line that a merge brought, if it came from there.
    fn within(&mut self, merge: CommitId, change: &Change) -> Result<Option<Change>, End> {
        for parent in 1..self.repo.find(merge)?.parents() {
            self.check()?;
            let line = self.repo.merged_line(merge, parent, MAX_COMMITS)?;
            let mut follower = Follower::behind(self.repo, self.decode, line, merge, change.after.clone());
            let first = self.state(&mut follower, 0)?;
            if self.verdict(&first) != Verdict::Same {
                continue;
            }
            let mut bounds = Bounds::default();
            let last = follower.line().len() - 1;
            self.bisect(&mut follower, &mut bounds, last, false)?;
            if let Some(other) = bounds.other {
                let after = follower.find(bounds.same, &mut self.texts)?;
                let before = follower.find(other, &mut self.texts)?;
                return Ok(Some(Change { line: follower.line().to_vec(), bounds, other, after, before }));
            }
        }
        Ok(None)
    }

    fn conclude(&mut self, change: Change, merge: Option<CommitId>, is_cut: bool) -> Result<Answer, End> {
        let Change { line, bounds, other, after, before } = change;
        let key = (line[other], before.place.clone());
        let state = self.states.get(&key).cloned().unwrap_or(State::Absent);
        if bounds.same + 1 < other {
            let commits = &line[bounds.same..other];
            let named = commits.iter().take(MAX_NAMED).map(|id| self.info(*id)).collect::<Result<_, _>>()?;
            return Ok(Answer::Among { commits: named, count: commits.len(), before: state });
        }
        let (commit, older) = (line[bounds.same], line[other]);
        let text = match before.presence {
            // Everything is new.
            Presence::Absent if before.file.is_none() => None,
            // Whoever ended the search waits.
            _ if is_cut => None,
            _ => changed_text(self.repo, (older, &before), (commit, &after))?,
        };
        Ok(Answer::Since(Culprit {
            commit: self.info(commit)?,
            merge: merge.map(|merge| self.info(merge)).transpose()?,
            before: state,
            from: (before.place != after.place && before.presence == Presence::Present).then_some(before.place),
            change: text,
        }))
    }

    fn info(&self, id: CommitId) -> Result<CommitInfo, RepoError> {
        let commit = self.repo.find(id)?;
        Ok(CommitInfo { id: id.to_string(), subject: commit.subject(), seconds: commit.seconds() })
    }
}
