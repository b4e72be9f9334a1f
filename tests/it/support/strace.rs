//! Faults at system calls: the program is killed at one of them, or one of them fails, by `strace --inject` (strace(1)).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::{Output, TestRepo, tools};

/// Every call by which a process changes a file system. `openat` counts where it makes or empties a file.
const CHANGES: &str = "write,writev,pwrite64,pwritev,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,\
                       symlinkat,mkdir,mkdirat,fsync,fdatasync,ftruncate,truncate,fallocate,copy_file_range,sendfile,open,\
                       openat,creat,chmod,fchmod,fchmodat,fchown,fchownat";

/// The changes that take room on a disk whatever is there. Of the others, such as `mkdir`, some find that there is nothing to do.
const TAKING_ROOM: [&str; 4] = ["write", "pwrite64", "symlinkat", "copy_file_range"];

/// One call that changes something: the `nth` of its name in the process, counted from 1.
#[derive(Debug, Clone)]
pub struct Call {
    pub name: String,
    pub nth: usize,
    /// As strace prints it.
    pub shown: String,
    /// How many calls of each name came before it.
    before: BTreeMap<String, usize>,
}

impl Call {
    /// A call by its number alone, to kill at.
    pub fn nth(name: &str, nth: usize) -> Call {
        Call { name: name.to_owned(), nth, shown: String::new(), before: BTreeMap::new() }
    }

    /// True for the calls of SQLite, which are most of all.
    pub fn is_of_database(&self) -> bool {
        self.name == "pwrite64" || self.shown.contains("checkpoints.db")
    }
}

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed; the call is not carried out.
    Kill,
    /// The disk is full, for this one call; what is to be flushed cannot be written.
    Once,
    /// The disk is full and stays so.
    Lasting,
}

impl Fault {
    fn options(self, call: &Call) -> Vec<String> {
        let error = if call.name.ends_with("sync") { "EIO" } else { "ENOSPC" };
        let Call { name, nth, .. } = call;
        match self {
            Fault::Kill => vec![format!("--inject={name}:error=EIO:signal=SIGKILL:when={nth}")],
            Fault::Once => vec![format!("--inject={name}:error={error}:when={nth}")],
            Fault::Lasting => {
                let mut from: BTreeMap<&str, usize> =
                    TAKING_ROOM.iter().map(|name| (*name, call.before.get(*name).copied().unwrap_or_default() + 1)).collect();
                from.insert(name, *nth);
                let option = |(name, nth): (&str, usize)| {
                    let lasts = if TAKING_ROOM.contains(&name) { "+" } else { "" };
                    let error = if name == call.name { error } else { "ENOSPC" };
                    format!("--inject={name}:error={error}:when={nth}{lasts}")
                };
                from.into_iter().map(option).collect()
            }
        }
    }
}

/// Whether a fault happened where it was meant to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    Yes,
    No,
    /// Another call had the number: one that changes nothing.
    Elsewhere,
}

fn makes_a_file(open: &str) -> bool {
    ["O_CREAT", "O_TRUNC", "O_TMPFILE"].iter().any(|flag| open.contains(flag))
}

/// Whether faults can be made here: strace is there, and processes may be traced.
pub fn is_usable() -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    *USABLE.get_or_init(|| tools::has("strace", &["-f", "-qq", "-o", "/dev/null", "true"]))
}

impl TestRepo {
    fn log(&self) -> PathBuf {
        self.env().root().join("strace.log")
    }

    /// The program under strace. `system` is for `sys::fault`: another kind of file system than there is.
    fn traced(&self, options: &[String], system: &str, args: &[&str]) -> (Output, String) {
        let mut command: Command = self.command("strace");
        command
            .args(["-f", "-qq", "-s", "64", "-o"])
            .arg(self.log())
            .arg(format!("--trace={CHANGES}"))
            .args(options)
            .env("GIT_CHECKPOINT_FAULT", system);
        let output = Output::of(command.arg(self.env().program()).args(args));
        let log = std::fs::read(self.log()).unwrap();
        (output, String::from_utf8_lossy(&log).into_owned())
    }

    /// Runs the program to its end. Returns every call by which it changes something.
    pub fn calls(&self, system: &str, args: &[&str]) -> Vec<Call> {
        let (output, log) = self.traced(&[], system, args);
        let _ended = output.success();
        let mut seen: BTreeMap<(&str, String), usize> = BTreeMap::new();
        let mut calls = Vec::new();
        let mut threads = Vec::new();
        for line in log.lines() {
            let Some((thread, shown)) = line.split_once(' ').map(|(thread, shown)| (thread, shown.trim_start())) else {
                continue;
            };
            let Some((name, rest)) = shown.split_once('(').filter(|(name, _)| CHANGES.split(',').any(|known| known == *name))
            else {
                continue;
            };
            let nth = seen.entry((thread, name.to_owned())).or_default();
            *nth += 1;
            if rest.contains(") = -1 ") || name.starts_with("open") && !makes_a_file(rest) {
                continue;
            }
            threads.push(thread);
            let (nth, name) = (*nth, name.to_owned());
            let before = seen.iter().filter(|((by, _), _)| *by == thread).map(|((_, name), count)| (name.clone(), *count));
            let mut before: BTreeMap<String, usize> = before.collect();
            before.insert(name.clone(), nth - 1);
            calls.push(Call { name, nth, shown: shown.to_owned(), before });
        }
        threads.dedup();
        assert_eq!(threads.len(), 1, "calls are counted in each thread by itself, and several threads change something:\n{log}");
        calls
    }

    /// Runs the program where a file of this name cannot be opened, the first time that a thread tries to.
    pub fn with_unreadable(&self, name: &str, args: &[&str]) -> Output {
        let options = ["-P", name, "--inject=openat:error=EIO:when=1"].map(str::to_owned);
        let (output, log) = self.traced(&options, "", args);
        assert!(log.contains("(INJECTED)"), "nobody opened it: {output}");
        output
    }

    /// Runs the program with a fault at a call.
    pub fn with_fault_at(&self, call: &Call, fault: Fault, system: &str, args: &[&str]) -> (Output, Reached) {
        let (output, log) = self.traced(&fault.options(call), system, args);
        let mut injected = log.lines().filter(|line| line.contains("(INJECTED)"));
        let reached = match fault {
            Fault::Kill if output.code().is_none() => Reached::Yes,
            // How many files are read depends on names that are made by chance.
            Fault::Once | Fault::Lasting if injected.clone().any(|line| line.contains(" open") && !makes_a_file(line)) => {
                Reached::Elsewhere
            }
            Fault::Once | Fault::Lasting if injected.next().is_some() => Reached::Yes,
            _ => Reached::No,
        };
        (output, reached)
    }
}
