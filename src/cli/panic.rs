//! What a person sees if the program has a bug.

use std::io::Write;

use super::exit::Exit;

/// Turns a panic into one sentence and the exit code of a fatal error.
pub(super) fn install() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        let what = text.and_then(|text| text.lines().next()).unwrap_or("panic");
        let text = format!(
            "error: internal error{place}: {what}; no checkpoint is lost, and after a restore that began \
             `git checkpoint restore --abort` takes it back\n"
        );
        super::browse::give_back();
        super::output::clear_in_panic();
        // Nobody is left to be told if standard error is closed.
        let _ = std::io::stderr().write_all(text.as_bytes());
        end();
    }));
}

#[expect(clippy::exit, reason = "a panic cannot be turned into a return from main; locks of the kernel end with the process")]
fn end() -> ! {
    std::process::exit(i32::from(Exit::Fatal.code()))
}

/// Turns a panic into a line for `tell`, which says where it was and nothing of what was at hand, and a quiet end without an error.
pub(super) fn replace(tell: impl Fn(&str) + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        tell(&format!("internal error{place}"));
        end_quietly();
    }));
}

#[expect(clippy::exit, reason = "a panic cannot be turned into a return from main; locks of the kernel end with the process")]
fn end_quietly() -> ! {
    std::process::exit(0)
}
