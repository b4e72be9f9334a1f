//! Signals: the one place with unsafe code.

/// Lets a write beyond the file size limit fail with an error instead of killing the process (`setrlimit(2)`), so that the
/// failure can be reported and nothing half-written is left.
#[expect(unsafe_code, reason = "signal(2) has no safe wrapper in the dependencies; SIG_IGN installs no handler")]
pub fn ignore_file_size_signal() {
    // SAFETY: ignoring a signal runs no code of ours in signal context, and no other thread exists yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
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
