//! The text of `show`.

use std::io::{self, Write};

use super::format::body;
use crate::cli::output::{Clock, Styles, pad, plural, sanitize};
use crate::model::{Boundary, ByteSlice, Checkpoint, Kind, Skipped, TurnEnd};

/// Writes everything that is known about a checkpoint, and how to bring it back.
pub fn write(out: &mut dyn Write, c: &Checkpoint, clock: &Clock, styles: &Styles) -> io::Result<()> {
    let names = if c.names.is_empty() { String::new() } else { format!(" ({})", sanitize(&c.names.join(", "))) };
    writeln!(out, "{}{}", styles.id.paint(format_args!("checkpoint {}", c.number)), styles.header.paint(names))?;
    let mut line = |label: &str, value: &str| writeln!(out, "{} {}", pad(&format!("{label}:"), LABEL_WIDTH), sanitize(value));
    line("Id", c.id.as_str())?;
    line("Commit", &c.commit.to_string())?;
    line("Ref", &c.ref_name())?;
    line("Created", &format!("{} ({})", clock.local_rfc3339(c.created_at), clock.age(c.created_at)))?;
    if let Some(completed) = c.completed_at {
        line("Completed", &clock.local_rfc3339(completed))?;
    }
    line("Kind", &kind(c))?;
    line("Session", c.session.as_str())?;
    line("Worktree", &format!("{} ({})", c.worktree.id, c.worktree.path.to_str_lossy()))?;
    line("Branch", c.branch.as_deref().unwrap_or("none (detached HEAD)"))?;
    line("Head", &c.head.map_or_else(|| "none (unborn branch)".to_owned(), |head| head.to_string()))?;
    if let Some(operation) = &c.operation {
        line("Operation", &format!("{operation} in progress"))?;
    }
    if c.index_tree.is_none() {
        line("Index", "not captured (unmerged entries)")?;
    }
    if let Some(origin) = &c.origin {
        line("Origin", origin)?;
    }
    if let Some(boundary) = &c.boundary {
        for (label, value) in memory(boundary) {
            line(label, &value)?;
        }
    }
    for (key, value) in &c.meta {
        line("Meta", &format!("{key}={value}"))?;
    }
    if let Some(stat) = c.stat {
        writeln!(
            out,
            "{} {} {} {}",
            pad("Changed:", LABEL_WIDTH),
            plural(stat.files, "file"),
            styles.added.paint(format_args!("+{}", stat.insertions)),
            styles.removed.paint(format_args!("-{}", stat.deletions)),
        )?;
    }
    writeln!(out, "\n    {}", sanitize(&c.subject))?;
    let body = body(c);
    if !body.is_empty() {
        writeln!(out)?;
        for text in body.lines() {
            writeln!(out, "{}", format!("    {}", sanitize(text)).trim_end())?;
        }
    }
    if !c.is_complete() {
        writeln!(out, "\n{}", styles.warning.paint(format_args!("Not captured ({}):", plural(count(c), "path"))))?;
        manifest(out, &c.skipped, "    ")?;
    }
    writeln!(out, "\nRestore it with: git checkpoint restore {}", c.number)
}

/// What is known of the place in the conversation, a line each. The hash is for programs.
fn memory(b: &Boundary) -> Vec<(&'static str, String)> {
    let turn = b.turn_id.as_ref().map(|id| format!(", turn {id}")).unwrap_or_default();
    let end = b.end.filter(|end| *end != TurnEnd::Done).map(|end| format!(", {}", end.as_str())).unwrap_or_default();
    let mut lines = vec![("Memory", format!("{}{turn}{end} ({})", b.conversation, b.state.as_str()))];
    if let Some(prompt) = &b.prompt {
        lines.push(("Prompt", prompt.clone()));
    }
    let facts = [
        ("version", &b.agent_version),
        ("model", &b.model),
        ("provider", &b.provider),
        ("mode", &b.permission_mode),
        ("approval", &b.approval_policy),
        ("sandbox", &b.sandbox),
    ];
    let facts = facts.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    let facts = facts.collect::<Vec<_>>().join(", ");
    if !facts.is_empty() {
        lines.push(("Agent", facts));
    }
    if let Some(transcript) = &b.transcript {
        let offset = b.offset.map(|offset| format!(", first {}", plural(offset, "byte"))).unwrap_or_default();
        lines.push(("File", format!("{}{offset}", transcript.to_str_lossy())));
    }
    lines
}

const LABEL_WIDTH: usize = 10;

fn count(c: &Checkpoint) -> u64 {
    u64::try_from(c.skipped.len()).unwrap_or(u64::MAX)
}

fn kind(c: &Checkpoint) -> String {
    let mut text = c.kind.to_string();
    if let Some(step) = &c.step {
        text.push_str(&format!(" `{step}`"));
    }
    if let Some(turn) = c.turn {
        text.push_str(&if matches!(c.kind, Kind::Turn | Kind::TurnStart) {
            format!(" {turn}")
        } else {
            format!(" (turn {turn})")
        });
    }
    if let Some(agent) = &c.agent {
        text.push_str(&format!(" of {agent}"));
    }
    text
}

/// Writes what was not captured, a line each: reason, size where known, path.
pub fn manifest(out: &mut dyn Write, skipped: &[Skipped], indent: &str) -> io::Result<()> {
    let reasons = skipped.iter().map(|s| s.reason.as_str().len()).max().unwrap_or(0);
    let sizes: Vec<String> = skipped.iter().map(|s| s.size.map(size).unwrap_or_default()).collect();
    let width = sizes.iter().map(String::len).max().unwrap_or(0);
    for (skipped, size) in skipped.iter().zip(&sizes) {
        let path = skipped.path.to_str_lossy();
        let size = if width == 0 { String::new() } else { format!("{size:>width$}  ") };
        writeln!(out, "{indent}{}  {size}{}", pad(skipped.reason.as_str(), reasons), sanitize(&path))?;
    }
    Ok(())
}

/// A number of bytes as git counts them out to people.
pub fn size(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        None => plural(bytes, "byte"),
        Some((unit, name)) => {
            let hundredths = u128::from(bytes) * 100 / u128::from(unit);
            format!("{}.{:02} {name}", hundredths / 100, hundredths % 100)
        }
    }
}

#[cfg(test)]
mod tests {
    use snapbox::IntoData;

    use super::*;
    use crate::model::{CheckpointId, SkipReason, Stat};
    use crate::store::testing::{object, sample};

    fn text(checkpoint: &Checkpoint) -> String {
        let mut out = Vec::new();
        write(&mut out, checkpoint, &Clock::utc(1_700_000_060_000), &Styles::default()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn everything_that_is_known_is_shown() {
        let checkpoint = Checkpoint {
            number: 12,
            id: CheckpointId::parse("01arz3ndektsv4rrffq69g5fav").unwrap(),
            kind: Kind::Turn,
            turn: Some(3),
            agent: Some("claude".into()),
            names: vec!["good".into(), "v1".into()],
            subject: "fix \x1b parser".into(),
            message: Some("fix\n\nfirst\n\nsecond".into()),
            head: Some(object(4)),
            operation: Some("merge".into()),
            origin: Some("laptop".into()),
            created_at: 1_700_000_000_000,
            meta: [("k".to_owned(), "v".to_owned())].into(),
            stat: Some(Stat { files: 1, insertions: 2, deletions: 0 }),
            boundary: Some(crate::model::sample_boundary()),
            skipped: vec![
                Skipped { path: "big\n".into(), reason: SkipReason::TooLarge, size: Some(123_456_789) },
                Skipped { path: "pipe".into(), reason: SkipReason::Special, size: None },
            ],
            ..sample(1)
        };

        snapbox::assert_data_eq!(
            text(&checkpoint),
            snapbox::str![[r#"
checkpoint 12 (good, v1)
Id:        01arz3ndektsv4rrffq69g5fav
Commit:    0101010101010101010101010101010101010101
Ref:       refs/checkpoints/main-1/01arz3ndektsv4rrffq69g5fav
Created:   2023-11-14T22:13:20+00:00 (60 seconds ago)
Kind:      turn 3 of claude
Session:   main-1
Worktree:  main (/w)
Branch:    main
Head:      0404040404040404040404040404040404040404
Operation: merge in progress
Index:     not captured (unmerged entries)
Origin:    laptop
Memory:    1f6d, turn p-1, interrupted (provisional)
Prompt:    add "alpha" ✓
Agent:     version 2.1, model claude-x, provider p, mode plan, approval never, sandbox read-only
File:      /t/�\n.jsonl, first 12 bytes
Meta:      k=v
Changed:   1 file +2 -0

    fix \x1b parser

    first

    second

Not captured (2 paths):
    too-large     117.73 MiB  big\n
    special-file              pipe

Restore it with: git checkpoint restore 12

"#]]
            .raw()
        );
    }

    #[test]
    fn sizes_are_counted_as_git_counts_them() {
        assert_eq!(size(1), "1 byte");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1536), "1.50 KiB");
        assert_eq!(size(5 << 30), "5.00 GiB");
        assert_eq!(size(u64::MAX), "17179869183.99 GiB");
    }
}
