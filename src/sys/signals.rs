//! Signals: the one place with unsafe code.
//!
//! While a command runs in our place ([`super::child`]), the signals that end a program are not for us. Those that a terminal sends
//! reach the command by themselves, as it is in the same process group; those that somebody sends to this process alone are
//! passed on. Git, as our parent, passes on what the terminal has sent us already (`run-command.c:cleanup_children`): that is not
//! sent a second time.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};

use libc::{c_int, c_void, siginfo_t};

/// What was done on SIGXFSZ and SIGCHLD before this program decided about it.
static ON_FILE_SIZE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static ON_CHILD: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

/// Lets a write beyond the file size limit fail with an error instead of killing the process (`setrlimit(2)`), so that the
/// failure can be reported and nothing half-written is left.
#[expect(unsafe_code, reason = "signal(2) has no safe wrapper in the dependencies; SIG_IGN installs no handler")]
pub fn ignore_file_size_signal() {
    // SAFETY: ignoring a signal runs no code of ours in signal context, and no other thread exists yet.
    let before = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    if before != libc::SIG_ERR {
        ON_FILE_SIZE.store(before, SeqCst);
    }
}

/// Lets this process learn how its children end, which the kernel forgets at once where SIGCHLD is ignored (`waitpid(2)`).
#[expect(unsafe_code, reason = "signal(2) has no safe wrapper in the dependencies; SIG_DFL installs no handler")]
fn learn_of_children() {
    // SAFETY: the default for this signal runs no code and does nothing.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if before == libc::SIG_IGN {
        ON_CHILD.store(before, SeqCst);
    }
}

/// Leaves Ctrl-C to the child that owns the terminal.
#[expect(unsafe_code, reason = "signal(2) has no safe wrapper in the dependencies; SIG_IGN installs no handler")]
pub fn ignore_interrupt() {
    // SAFETY: ignoring a signal runs no code of ours in signal context.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
    }
}

/// The signal that asked this process to end, once [`note_requests_to_end`] was called; 0 before that.
static ASKED_TO_END: AtomicI32 = AtomicI32::new(0);

/// From now on a signal that asks this process to end is noted, and whoever works has to look: the terminal has to be put back
/// first, and a restore has to come to its end. One that is ignored stays ignored.
#[expect(unsafe_code, reason = "sigaction(2) has no safe wrapper in the dependencies")]
pub fn note_requests_to_end() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: both structures live through the calls; the handler stores a number and does nothing else.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            if libc::sigaction(signal, ptr::null(), before.as_mut_ptr()) != 0
                || before.assume_init_ref().sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = asked as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
}

extern "C" fn asked(signal: c_int) {
    ASKED_TO_END.store(signal, SeqCst);
}

/// The signal that asked this process to end, if one did.
pub fn request_to_end() -> Option<c_int> {
    Some(ASKED_TO_END.load(SeqCst)).filter(|signal| *signal != 0)
}

/// Ends this process as the signal would have done, so that whoever waits for it learns why.
pub fn end_by(signal: c_int) {
    die_of(signal);
}

/// The signals that are passed on.
const PASSED_ON: [c_int; 6] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// [`CHILD`] before there is one.
const NONE_YET: i32 = 0;
/// [`CHILD`] when it has ended.
const ENDED: i32 = -1;

/// What comes so soon after a signal of the terminal, or after the child's end, was sent because of that.
const ECHO_MILLIS: i64 = 1000;

/// The process that this is about; a copy of it between fork and exec is another.
static OWNER: AtomicI32 = AtomicI32::new(0);
static CHILD: AtomicI32 = AtomicI32::new(NONE_YET);
/// When the child ended, by the clock that never goes back.
static ENDED_AT: AtomicI64 = AtomicI64::new(0);
/// Signals that came while nobody knew the child's number yet, one bit for each.
static HELD: AtomicU64 = AtomicU64::new(0);
/// When a terminal last sent a signal to all of us, by the same clock.
static FROM_TERMINAL_AT: AtomicI64 = AtomicI64::new(i64::MIN);

/// From now on the signals in question do not end this process. One that is ignored stays ignored, for the child too.
#[expect(unsafe_code, reason = "sigaction(2) has no safe wrapper in the dependencies")]
pub(super) fn begin_passing_on() {
    OWNER.store(i32::try_from(std::process::id()).unwrap_or(0), SeqCst);
    CHILD.store(NONE_YET, SeqCst);
    learn_of_children();
    for signal in PASSED_ON {
        // SAFETY: both structures live through the calls; the handler only does what signal-safety(7) allows.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            if libc::sigaction(signal, ptr::null(), before.as_mut_ptr()) != 0
                || before.assume_init_ref().sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = arrived as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
}

/// Signals go to process `pid` from now on, those that came meanwhile first.
#[expect(unsafe_code, reason = "the number of a signal may be one that rustix has no name for")]
pub(super) fn pass_on_to(pid: u32) {
    let pid = i32::try_from(pid).unwrap_or(NONE_YET);
    CHILD.store(pid, SeqCst);
    let held = HELD.swap(0, SeqCst);
    for signal in PASSED_ON.into_iter().filter(|signal| held & bit(*signal) != 0 && pid > 0) {
        // SAFETY: the child was not waited for yet, so the number is its own.
        unsafe {
            libc::kill(pid, signal);
        }
    }
}

/// There is no child any more: signals are for this process again, but for the echo of the last one.
pub(super) fn end_passing_on() {
    ENDED_AT.store(millis(), SeqCst);
    CHILD.store(ENDED, SeqCst);
}

/// Lets the child find signals as this process found them. The library of Rust sees to SIGPIPE, which it ignores here.
#[expect(unsafe_code, reason = "what runs between fork and exec is unsafe by nature")]
pub(super) fn leave_to_child(command: &mut Command) {
    let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: asks for the mask of this thread, into memory that lives long enough.
    let mask = unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), mask.as_mut_ptr());
        mask.assume_init()
    };
    let restore = move || {
        // SAFETY: all three calls are among those that signal-safety(7) allows after a fork.
        unsafe {
            libc::signal(libc::SIGXFSZ, ON_FILE_SIZE.load(SeqCst));
            libc::signal(libc::SIGCHLD, ON_CHILD.load(SeqCst));
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut());
        }
        io::Result::Ok(())
    };
    // SAFETY: the closure allocates nothing, takes no lock, and only calls what may be called after a fork.
    unsafe {
        command.pre_exec(restore);
    }
}

/// The handler. `kill`, `raise`, `sigaction`, `getpid` and `clock_gettime` are all it calls (signal-safety(7)).
#[expect(unsafe_code, reason = "a handler reads what the kernel hands over, and calls the C library")]
extern "C" fn arrived(signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel gives a valid `info` with SA_SIGINFO; the calls are safe in a handler, and `errno` is put back.
    unsafe {
        let errno = *libc::__errno_location();
        // Anything sent by a process has a code of 0 or less (sigaction(2)).
        let is_from_terminal = !info.is_null() && (*info).si_code > 0;
        let now = millis();
        let is_soon_after = now.saturating_sub(FROM_TERMINAL_AT.load(SeqCst)) < ECHO_MILLIS;
        let is_echo = is_soon_after && matches!(signal, libc::SIGINT | libc::SIGQUIT | libc::SIGHUP);
        if is_from_terminal {
            FROM_TERMINAL_AT.store(now, SeqCst);
        }
        match CHILD.load(SeqCst) {
            // The child, before it becomes the command.
            _ if libc::getpid() != OWNER.load(SeqCst) => die_of(signal),
            NONE_YET => {
                HELD.fetch_or(bit(signal), SeqCst);
            }
            ENDED if now.saturating_sub(ENDED_AT.load(SeqCst)) > ECHO_MILLIS => die_of(signal),
            ENDED => {}
            child if !is_from_terminal && !is_echo => {
                libc::kill(child, signal);
            }
            _ => {}
        }
        *libc::__errno_location() = errno;
    }
}

/// Lets a signal do what it does by default, as soon as its handler returns.
#[expect(unsafe_code, reason = "signal(2) and raise(3) have no safe wrapper in the dependencies")]
fn die_of(signal: c_int) {
    // SAFETY: both calls are among those that signal-safety(7) allows.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn bit(signal: c_int) -> u64 {
    1u64.checked_shl(signal.unsigned_abs()).unwrap_or(0)
}

/// Milliseconds by a clock that never goes back. A system call, safe in a handler.
fn millis() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000)
}
