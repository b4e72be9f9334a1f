//! What git's fsmonitor daemon says changed in a worktree (git-fsmonitor--daemon(1)).
//!
//! The daemon is asked where `core.fsmonitor` is true and it listens; it is never started. It is believed only if it has
//! watched without a gap since the capture that it is asked about; anything odd means that everything may have changed.
//! Like git, this sees nothing that the daemon does not see, such as writes through a memory map (inotify(7)).

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use gix::bstr::{BStr, BString, ByteSlice};

use super::Repo;

/// The socket's name in the git directory of the worktree (`fsmonitor-ipc.c`).
const SOCKET: &str = "fsmonitor--daemon.ipc";
/// How long the daemon may take. It answers within milliseconds; a walk over everything takes less than a second.
const PATIENCE: Duration = Duration::from_millis(100);
/// An answer longer than this names so much that looking at everything is as fast.
const LONGEST_ANSWER: usize = 8 << 20;
/// The longest data of one packet (`pkt-line.h:LARGE_PACKET_DATA_MAX`).
const LONGEST_PACKET: usize = 65_516;
/// What git asks with when it has no token (`fsmonitor.c:refresh_fsmonitor`): the answer has one, and that all may have changed.
const NO_TOKEN: &str = "builtin:fake";
/// Longer tokens are not used, as they are not kept. The daemon's have some 45 characters.
pub(crate) const LONGEST_TOKEN: usize = 127;

/// What the daemon answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Stands for the moment of the question when the daemon is asked the next time.
    pub(crate) token: String,
    /// Paths of all that changed since the moment that was asked about; none if anything may have. Where one is, or was, a
    /// directory, so may have everything below it.
    pub(crate) changed: Option<Vec<BString>>,
}

/// Asks the daemon of this worktree what changed since it gave the token `since`; an empty one if there is none.
pub(crate) fn ask(repo: &Repo, since: &str) -> Option<Answer> {
    if !is_wanted(repo) || !watches(repo) {
        return None;
    }
    let socket = repo.git_dir().join(SOCKET);
    let question = if since.is_empty() { NO_TOKEN } else { since }.to_owned();
    if !is_own_socket(&socket) {
        return None;
    }
    // A daemon that hangs may do so before it accepts, and connect(2) knows no time limit: the thread is left behind then.
    let (sender, receiver) = mpsc::sync_channel(1);
    let talk = move || sender.send(converse(&socket, &question)).unwrap_or_default();
    std::thread::Builder::new().name("fsmonitor".into()).spawn(talk).ok()?;
    let payload = receiver.recv_timeout(PATIENCE).ok()?.ok()?;
    parse(&payload, since)
}

/// `core.fsmonitor` is a boolean that is true; the path of a hook is not (`fsmonitor-settings.c:lookup_fsmonitor_settings`).
/// Where case does not matter, the daemon may spell a path otherwise than the index does (`fsmonitor.c:fsmonitor_refresh_callback`).
fn is_wanted(repo: &Repo) -> bool {
    let gix = repo.gix();
    let config = gix.config_snapshot();
    let is_true = |key: &str| matches!(config.try_boolean(key), Ok(Some(true)));
    is_true("core.fsmonitor") && !is_true("core.ignoreCase")
}

/// Whether the daemon of this git directory can be expected to watch this worktree, and to see all changes. One that was started
/// from elsewhere watches the directory that the `.git` with this git directory lies in. Changes that other machines make are
/// not seen.
fn watches(repo: &Repo) -> bool {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let dot_git = repo.top().join(".git");
    let target = match std::fs::read(&dot_git) {
        Ok(text) => match text.strip_prefix(b"gitdir: ") {
            Some(target) => repo.top().join(super::os_path(target.trim_end())),
            None => return false,
        },
        Err(_) => dot_git,
    };
    let own = file(repo.git_dir());
    own.is_some() && file(&target) == own && !is_remote(repo.git_dir()) && !is_remote(repo.top())
}

/// `compat/fsmonitor/fsm-path-utils-linux.c:is_remote_fs`. Git allows a daemon there if it is told to, with its socket elsewhere
/// (`fsmonitor.allowRemote`, `fsmonitor.socketDir`); nobody has to take its word for what other machines do.
fn is_remote(path: &Path) -> bool {
    /// CIFS, SMB, SMB2, NFS, AFS, Coda, 9p, FUSE.
    const REMOTE: [u64; 8] = [0xff53_4d42, 0x517b, 0xfe53_4d42, 0x6969, 0x5346_414f, 0x7375_7245, 0x0102_1997, 0x6573_5546];
    rustix::fs::statfs(path).map_or(true, |stat| REMOTE.contains(&(stat.f_type as u64)))
}

/// Another user's daemon could say anything.
fn is_own_socket(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_socket() && meta.uid() == user)
}

/// One question and its answer (`compat/simple-ipc/ipc-unix-socket.c`): packets until a flush packet, both ways.
fn converse(socket: &Path, question: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "{:04x}{question}0000", question.len() + 4)?;
    let mut answer = Vec::new();
    while answer.len() <= LONGEST_ANSWER {
        let mut digits = [0; 4];
        stream.read_exact(&mut digits)?;
        match packet_len(digits) {
            Some(0) => return Ok(answer),
            Some(len @ 4..) if len - 4 <= LONGEST_PACKET => {
                let start = answer.len();
                answer.resize(start + len - 4, 0);
                stream.read_exact(&mut answer[start..])?;
            }
            _ => break,
        }
    }
    Err(std::io::ErrorKind::InvalidData.into())
}

fn packet_len(digits: [u8; 4]) -> Option<usize> {
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    usize::from_str_radix(std::str::from_utf8(&digits).ok().filter(|_| is_number)?, 16).ok()
}

/// An address holds 107 bytes; through a handle of the directory every path fits. (Git changes its directory:
/// `unix-socket.c:unix_sockaddr_init`.)
fn connect(socket: &Path) -> std::io::Result<UnixStream> {
    use std::os::fd::AsRawFd;
    let Some(directory) = socket.parent().filter(|_| socket.as_os_str().len() > 107) else {
        return UnixStream::connect(socket);
    };
    let directory = std::fs::File::open(directory)?;
    UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", directory.as_raw_fd()))
}

/// Reads an answer: a token and paths, each with a NUL at its end; `/` for a path where all may have changed
/// (`builtin/fsmonitor--daemon.c:do_handle_client`).
fn parse(payload: &[u8], since: &str) -> Option<Answer> {
    let mut fields = payload.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    let token = fields.next()?.to_str().ok().filter(|token| token.len() <= LONGEST_TOKEN)?;
    let (id, number) = parts(token)?;
    // Another id, or a count that runs backwards: there is a gap in what the daemon saw.
    let goes_on = parts(since).is_some_and(|(old_id, old_number)| old_id == id && old_number <= number);
    let paths: Vec<BString> = fields.map(BString::from).collect();
    let is_exact = goes_on && paths.iter().all(|path| is_inside(path.as_ref()));
    Some(Answer { token: token.to_owned(), changed: is_exact.then_some(paths) })
}

/// The id and the number in a token: `builtin:<id>:<number>`.
fn parts(token: &str) -> Option<(&str, u64)> {
    let (id, number) = token.strip_prefix("builtin:")?.split_once(':')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (!id.is_empty() && is_number).then(|| number.parse().ok()).flatten().map(|number| (id, number))
}

/// Whether `path` names something below the top of the worktree, in the one way there is.
fn is_inside(path: &BStr) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINCE: &str = "builtin:0.7.a:4";

    fn changed(payload: &[u8]) -> Option<Vec<BString>> {
        parse(payload, SINCE).and_then(|answer| answer.changed)
    }

    #[test]
    fn an_answer_is_a_token_and_the_paths_that_changed_since() {
        let answer = parse(b"builtin:0.7.a:5\0f\0d/e/\0new\nline\0", SINCE).unwrap();

        assert_eq!(answer.token, "builtin:0.7.a:5");
        assert_eq!(answer.changed.unwrap(), ["f", "d/e/", "new\nline"]);
        assert_eq!(changed(b"builtin:0.7.a:4\0"), Some(Vec::new()));
    }

    #[test]
    fn all_may_have_changed_if_the_answer_is_not_about_the_time_since_the_token() {
        for payload in ["builtin:0.7.b:5\0f\0", "builtin:0.7.a:3\0f\0", "builtin:0.7.a:5\0/\0"] {
            let answer = parse(payload.as_bytes(), SINCE).unwrap();
            assert_eq!(answer.changed, None, "{payload:?}");
            assert!(answer.token.starts_with("builtin:0.7."));
        }
        assert_eq!(parse(b"builtin:0.7.a:5\0f\0", "").unwrap().changed, None);
    }

    #[test]
    fn all_may_have_changed_if_a_path_is_not_one_below_the_top() {
        for path in ["", "/etc/passwd", "..", "../f", "d/../f", "./f", "d//f", "d//"] {
            assert_eq!(changed(format!("builtin:0.7.a:5\0g\0{path}\0").as_bytes()), None, "{path:?}");
        }
    }

    #[test]
    fn what_is_no_answer_is_none() {
        let long = format!("builtin:{}:5\0", "x".repeat(LONGEST_TOKEN));
        let none = ["", "\0", "builtin:0.7.a:5", "builtin:0.7.a:5\0f", "hello\0", "builtin:0.7.a:\0", "builtin::5\0", &long];
        for payload in none.into_iter().chain(["builtin:0.7.a:5x\0", "builtin:0.7.a:+5\0", "watchman:1:5\0"]) {
            assert_eq!(parse(payload.as_bytes(), SINCE), None, "{payload:?}");
        }
    }

    #[test]
    fn the_length_of_a_packet_is_four_hexadecimal_digits() {
        assert_eq!(packet_len(*b"0000"), Some(0));
        assert_eq!(packet_len(*b"fff0"), Some(65_520));
        for digits in [*b"+004", *b" 004", *b"00g0", [0xff; 4]] {
            assert_eq!(packet_len(digits), None);
        }
    }
}
