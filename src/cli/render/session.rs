//! Sessions, as a document, as lines of a table, and one at length.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::json::put_path;
use crate::cli::output::{Clock, Styles, display_width, pad, plural, rfc3339, sanitize, truncate};
use crate::model::{ByteSlice, Millis, SessionState};
use crate::ops::session::SessionReport;

/// A session inside a document.
pub fn object(report: &SessionReport) -> Value {
    let time = |at: Option<Millis>| at.map(rfc3339);
    let mut worktree = Map::new();
    worktree.insert("id".to_owned(), report.worktree.id.as_str().into());
    put_path(&mut worktree, &report.worktree.path);
    let (active, counts) = (report.active.as_ref(), report.counts.as_ref());
    json!({
        "key": report.key.as_str(),
        "state": report.state.map(SessionState::as_str),
        "current": report.is_current,
        "agent": report.agent,
        "worktree": worktree,
        "origin": report.origin,
        "pid": active.map(|active| active.process.pid),
        "step": active.and_then(|active| active.step.as_deref()),
        "turn": active.and_then(|active| active.turn),
        "active_since": time(active.map(|active| active.since)),
        "started_at": time(report.started_at),
        "ended_at": time(report.ended_at),
        "checkpoint_count": counts.map_or(0, |counts| counts.checkpoints),
        "baseline": counts.and_then(|counts| counts.baseline),
        "newest": counts.map(|counts| counts.newest),
        "first_checkpoint_at": time(counts.map(|counts| counts.first_at)),
        "last_checkpoint_at": time(counts.map(|counts| counts.last_at)),
    })
}

/// Space between columns.
const GAP: usize = 2;

/// Writes a line for each session. The one that owns the worktree is marked; lines fit into `width` columns if there is one.
pub fn write_list(
    out: &mut dyn Write,
    sessions: &[SessionReport],
    clock: &Clock,
    styles: &Styles,
    width: Option<usize>,
    all_worktrees: bool,
) -> io::Result<()> {
    let rows: Vec<[String; 5]> = sessions.iter().map(|report| cells(report, clock, all_worktrees)).collect();
    let widths: Vec<usize> = (0..5).map(|at| rows.iter().map(|cells| display_width(&cells[at])).max().unwrap_or(0)).collect();
    for (report, cells) in sessions.iter().zip(&rows) {
        let mark = if report.is_current { styles.current.paint('*').to_string() } else { " ".to_owned() };
        let looks = [styles.id, styles.path, styles.dim, styles.dim, styles.header];
        let mut line = format!("{mark} ");
        let mut room = width.map_or(usize::MAX, |width| width.saturating_sub(GAP));
        let last = cells.iter().rposition(|cell| !cell.is_empty()).unwrap_or(0);
        for (at, (cell, look)) in cells.iter().zip(looks).enumerate().take(last + 1).filter(|(at, _)| widths[*at] > 0) {
            let cell = truncate(cell, room);
            line.push_str(&look.paint(&cell).to_string());
            room = room.saturating_sub(widths[at] + GAP);
            if at < last {
                line.push_str(&pad("", (widths[at] + GAP).saturating_sub(display_width(&cell))));
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn cells(report: &SessionReport, clock: &Clock, all_worktrees: bool) -> [String; 5] {
    let count = report.counts.as_ref().map_or(0, |counts| counts.checkpoints);
    let last_at = report.counts.as_ref().map(|counts| counts.last_at).or(report.started_at);
    let state = match (&report.active, report.state) {
        (Some(active), _) => format!("{} (process {})", active.state, active.process.pid),
        (None, Some(state)) => state.to_string(),
        (None, None) => "-".to_owned(),
    };
    let mut label = report.agent.as_deref().map(|agent| sanitize(agent).into_owned()).unwrap_or_default();
    if let Some(origin) = &report.origin {
        label.push_str(&format!(" from {}", sanitize(origin)));
    } else if all_worktrees {
        label.push_str(&format!(" in {}", sanitize(report.worktree.id.as_str())));
    }
    let when = last_at.map(|at| clock.when(at)).unwrap_or_default();
    [report.key.to_string(), state, plural(count, "checkpoint"), when, label.trim_start().to_owned()]
}

const LABEL_WIDTH: usize = 12;

/// Writes everything that is known about a session.
pub fn write(out: &mut dyn Write, report: &SessionReport, clock: &Clock, styles: &Styles) -> io::Result<()> {
    let mark = if report.is_current { " (owns this worktree)" } else { "" };
    writeln!(out, "{}{}", styles.id.paint(format_args!("session {}", report.key)), styles.header.paint(mark))?;
    let mut line = |label: &str, value: &str| writeln!(out, "{} {}", pad(&format!("{label}:"), LABEL_WIDTH), sanitize(value));
    let time = |at: Millis| format!("{} ({})", clock.local_rfc3339(at), clock.age(at));
    match (&report.active, report.state) {
        (Some(active), _) => {
            let step = active.step.as_ref().map(|step| format!(", step `{step}`"));
            let step = step.or_else(|| active.turn.map(|turn| format!(", turn {turn}"))).unwrap_or_default();
            let since = clock.age(active.since);
            line("State", &format!("{}: process {}{step}, since {since}", active.state, active.process.pid))?;
        }
        (None, Some(state)) => line("State", state.as_str())?,
        (None, None) => line("State", "never started; known from its checkpoints")?,
    }
    if let Some(agent) = &report.agent {
        line("Agent", agent)?;
    }
    line("Worktree", &format!("{} ({})", report.worktree.id, report.worktree.path.to_str_lossy()))?;
    if let Some(origin) = &report.origin {
        line("Origin", origin)?;
    }
    if let Some(started) = report.started_at {
        line("Started", &time(started))?;
    }
    if let Some(ended) = report.ended_at {
        line("Ended", &time(ended))?;
    }
    let Some(counts) = &report.counts else { return line("Checkpoints", "none") };
    line("Checkpoints", &counts.checkpoints.to_string())?;
    if let Some(baseline) = counts.baseline {
        line("Baseline", &baseline.to_string())?;
    }
    line("Newest", &format!("{}, {}", counts.newest, time(counts.last_at)))?;
    writeln!(out, "\nList them with: git checkpoint list --all-worktrees --session {}", report.key)
}
