//! A stand-in for git's fsmonitor daemon, which git has on Linux only from 2.55 on: it listens where the daemon does, speaks as
//! `compat/simple-ipc/ipc-unix-socket.c` and `builtin/fsmonitor--daemon.c` do, and says what the test tells it.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::TestRepo;

/// How it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manner {
    /// As git's daemon does.
    Faithful,
    /// With these bytes, whatever is asked.
    Bytes(Vec<u8>),
    /// Not at all, and it keeps the connection.
    Silent,
}

/// Finds out what changed since it was called last.
type Watcher = Box<dyn FnMut() -> Vec<Vec<u8>> + Send>;

struct State {
    manner: Manner,
    id: String,
    /// What changed before each number in turn.
    batches: Vec<Vec<Vec<u8>>>,
    watcher: Watcher,
    told: Vec<Vec<u8>>,
    questions: Vec<String>,
    kept: Vec<UnixStream>,
}

/// The daemon of one worktree; it ends with the test.
pub struct Monitor {
    state: Arc<Mutex<State>>,
}

impl Monitor {
    /// Turns `core.fsmonitor` on and listens in the git directory. What changes is what [`Monitor::tell`] is told.
    pub fn of(repo: &TestRepo) -> Monitor {
        Monitor::watching(repo, Box::new(Vec::new))
    }

    /// The same, but also asks `watcher` what changed.
    pub fn watching(repo: &TestRepo, watcher: Watcher) -> Monitor {
        repo.config("core.fsmonitor", "true");
        let listener = listen(repo);
        let state = Arc::new(Mutex::new(State {
            manner: Manner::Faithful,
            id: "0.1.first".into(),
            batches: Vec::new(),
            watcher,
            told: Vec::new(),
            questions: Vec::new(),
            kept: Vec::new(),
        }));
        let monitor = Monitor { state: Arc::clone(&state) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that went away is no concern of the daemon's.
                let _ = lock(&state).serve(stream);
            }
        });
        monitor
    }

    /// Says that something changed at `path`.
    pub fn tell(&self, path: impl AsRef<[u8]>) {
        lock(&self.state).told.push(path.as_ref().to_vec());
    }

    /// Changes how it answers from now on.
    pub fn be(&self, manner: Manner) {
        lock(&self.state).manner = manner;
    }

    /// Starts anew, as after a gap in what it saw.
    pub fn restart(&self, id: &str) {
        let mut state = lock(&self.state);
        state.id = id.to_owned();
        state.batches.clear();
    }

    /// What it was asked so far.
    pub fn questions(&self) -> Vec<String> {
        lock(&self.state).questions.clone()
    }
}

/// Where the daemon of a worktree listens (`fsmonitor-ipc.c`).
pub fn socket(repo: &TestRepo) -> PathBuf {
    repo.git_dir().join("fsmonitor--daemon.ipc")
}

/// Through a handle of the git directory, as an address has no room for a long path.
fn listen(repo: &TestRepo) -> UnixListener {
    let socket = socket(repo);
    let folder = std::fs::File::open(socket.parent().unwrap()).unwrap();
    let name = socket.file_name().unwrap().to_str().unwrap();
    UnixListener::bind(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())).unwrap()
}

/// A packet (gitprotocol-common(5)).
pub fn packet(data: &[u8]) -> Vec<u8> {
    [format!("{:04x}", data.len() + 4).as_bytes(), data].concat()
}

impl State {
    fn serve(&mut self, mut stream: UnixStream) -> std::io::Result<()> {
        let question = read_packets(&mut stream)?;
        let question = String::from_utf8(question).unwrap();
        let answer = match self.manner.clone() {
            Manner::Faithful => self.answer(&question),
            Manner::Bytes(bytes) => bytes,
            Manner::Silent => {
                self.kept.push(stream);
                self.questions.push(question);
                return Ok(());
            }
        };
        self.questions.push(question);
        stream.write_all(&answer)
    }

    fn answer(&mut self, question: &str) -> Vec<u8> {
        let mut changed = (self.watcher)();
        changed.append(&mut self.told);
        if !changed.is_empty() {
            self.batches.push(changed);
        }
        let now = self.batches.len();
        let since = question.strip_prefix(&format!("builtin:{}:", self.id)).and_then(|number| number.parse::<usize>().ok());
        let mut answer = packet(format!("builtin:{}:{now}\0", self.id).as_bytes());
        match since.filter(|since| *since <= now) {
            None => answer.extend(packet(b"/\0")),
            Some(since) => {
                let paths: Vec<u8> =
                    self.batches[since..].iter().flatten().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
                // Where packets end says nothing.
                answer.extend(paths.chunks(1000).flat_map(packet));
            }
        }
        answer.extend(b"0000");
        answer
    }
}

fn read_packets(stream: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    let mut data = Vec::new();
    loop {
        let mut digits = [0; 4];
        stream.read_exact(&mut digits)?;
        let len = usize::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap();
        if len == 0 {
            return Ok(data);
        }
        let start = data.len();
        data.resize(start + len - 4, 0);
        stream.read_exact(&mut data[start..])?;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
