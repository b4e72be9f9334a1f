//! `git checkpoint hook`: what coding agents call.
//!
//! An agent takes what a hook prints for a part of the conversation, and a hook that fails for a reason to stop. So nothing is
//! printed, and the exit code is 0 whatever happens; what went wrong is a line in the log, without a word of what the agent said.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use super::best_effort;
use super::failure::Failure;
use crate::agents::Agent;
use crate::agents::hooks::{Meaning, meaning};
use crate::agents::payload::Payload;
use crate::git::{GitError, Repo};
use crate::ops::hook::{Event, handle};
use crate::ops::{Context, Error};
use crate::sys::sharing::Sharing;

/// Arguments of `hook`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent: claude, codex, gemini, opencode, cursor or copilot
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The event, in the agent's own word
    #[arg(value_name = "EVENT")]
    event: String,
}

/// More than this is not read of a payload.
const LARGEST_PAYLOAD: u64 = 1024 * 1024;
/// How long the agent may take to write it.
const DEADLINE: Duration = Duration::from_secs(1);

/// Variables that make git look for a repository elsewhere than around a directory (git-rev-parse(1), `--local-env-vars`). Those
/// that the agent was started with say nothing of where it works now.
const PLACES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_INDEX_FILE",
];

/// Where the log is, for a panic.
static LOG: OnceLock<(PathBuf, Sharing)> = OnceLock::new();

/// Does the work if the command line is one of an agent, before anything else looks at it and finds fault with it.
pub(super) fn answer(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let words: Vec<OsString> = arguments.into_iter().skip(1).collect();
    let (first, rest) = words.split_first()?;
    let asks_for_help = rest.iter().any(|word| word == "-h" || word == "--help");
    (first == "hook" && !asks_for_help).then(|| work(rest))
}

/// Runs `hook` after other options.
pub(super) fn run(args: &Args) -> ExitCode {
    work(&[args.agent.clone().into(), args.event.clone().into()])
}

fn work(words: &[OsString]) -> ExitCode {
    super::panic::replace(|text| {
        if let Some((folder, sharing)) = LOG.get() {
            best_effort::log_in(folder, *sharing, "hook", text);
        }
    });
    let is_off = ["1", "true", "yes", "on"].iter().any(|word| crate::sys::env::is("GIT_CHECKPOINT_DISABLE", word));
    if !is_off {
        take(words);
    }
    ExitCode::SUCCESS
}

fn take(words: &[OsString]) {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let shown = words.iter().take(2).map(|word| word.chars().filter(|c| !c.is_control()).take(40).collect::<String>());
    let command = std::iter::once("hook".to_owned()).chain(shown).collect::<Vec<_>>().join(" ");
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    if PLACES.iter().any(|name| std::env::var_os(name).is_some()) {
        // This process cannot forget what it was told where to work; one in its place can.
        let error = std::env::current_exe().map(|program| forgetful(&program).exec());
        return best_effort::log_around(&here, &command, &format!("cannot run again: {}", error.unwrap_or_else(|error| error)));
    }
    let read = match words.as_slice() {
        [agent, event] => read(agent, event),
        _ => Err("an agent and an event are needed".to_owned()),
    };
    let (agent, meaning, payload) = match read {
        Ok(Some(read)) => read,
        Ok(None) => return,
        Err(text) => return best_effort::log_around(&here, &command, &text),
    };
    let directory = payload.cwd.as_ref().map_or(here, PathBuf::from);
    let event = Event { agent, meaning, word: &words[1], payload };
    if let Err(failure) = record(&directory, &event) {
        best_effort::log_around(&directory, &command, &failure.in_one_line());
    }
}

/// This command line again, without [`PLACES`].
fn forgetful(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1));
    for name in PLACES {
        command.env_remove(name);
    }
    command
}

/// Reads the command line and standard input. None if it is nothing that concerns us.
fn read(agent: &str, event: &str) -> Result<Option<(Agent, Meaning, Payload)>, String> {
    let known = Agent::parse(agent).ok_or("the agent is unknown")?;
    let meaning = meaning(known, event).ok_or("the event is unknown")?;
    let bytes = standard_input()?;
    let payload = Payload::read(known, &bytes).map_err(|error| error.to_string())?;
    Ok(payload.map(|payload| (known, meaning, payload)))
}

/// What the agent writes, if it does so in time.
fn standard_input() -> Result<Vec<u8>, String> {
    let (send, receive) = mpsc::channel();
    // Reading waits as long as the agent likes; the thread goes away with the process.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(LARGEST_PAYLOAD + 1).read_to_end(&mut bytes);
        let _ = send.send(read.map(|_| bytes));
    });
    match receive.recv_timeout(DEADLINE) {
        Ok(Ok(bytes)) if bytes.len() as u64 > LARGEST_PAYLOAD => Err("the payload is larger than 1 MiB".to_owned()),
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(format!("cannot read the payload: {error}")),
        Err(_) => Err("the payload did not come within a second".to_owned()),
    }
}

fn record(directory: &Path, event: &Event<'_>) -> Result<(), Failure> {
    let repo = match Repo::open(directory) {
        Ok(repo) => repo,
        // An agent may work anywhere.
        Err(GitError::NotARepository) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if !repo.config().enabled {
        return Ok(());
    }
    let _ = LOG.set((repo.shared_dir(), repo.sharing()));
    crate::sys::fault::point().map_err(|source| Error::from(GitError::io("open", repo.common_dir(), source)))?;
    Ok(handle(&mut Context::of(repo)?, event)?)
}
