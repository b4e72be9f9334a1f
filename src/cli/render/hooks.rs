//! The hooks of agents: what became of settings files, and how they stand.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::json::{SCHEMA, put_path};
use crate::agents::settings::{Change, Found, What};
use crate::cli::output::{Clock, Styles, rfc3339, sanitize};
use crate::ops::hooks::{HookReport, HookState, Trust};

/// The document of `install` and `uninstall`.
pub fn changes(changes: &[Change], status: &str) -> Value {
    let file = |change: &Change| {
        let mut file = Map::new();
        file.insert("agent".to_owned(), change.place.agent.as_str().into());
        file.insert("level".to_owned(), change.place.level.as_str().into());
        put_path(&mut file, change.place.path.as_os_str().as_bytes());
        file.insert("action".to_owned(), change.what.as_str().into());
        Value::Object(file)
    };
    let is_same = changes.iter().all(|change| change.what == What::Unchanged);
    let status = if is_same && status != "dry-run" { "unchanged" } else { status };
    json!({"schema": SCHEMA, "status": status, "files": Value::from_iter(changes.iter().map(file))})
}

/// One line about what becomes of a file.
pub fn line(change: &Change, path: &str, dry_run: bool) -> String {
    let agent = change.place.agent;
    let would = if dry_run { "would be " } else { "" };
    match change.what {
        What::Created => format!("{agent}: {path} {would}created"),
        What::Changed => format!("{agent}: {path} {would}changed"),
        What::Removed => format!("{agent}: {path} {would}removed"),
        What::Unchanged => format!("{agent}: {path} is as it should be"),
    }
}

/// The document of `status`.
pub fn status(reports: &[HookReport]) -> Value {
    json!({"schema": SCHEMA, "agents": Value::from_iter(reports.iter().map(object))})
}

fn object(report: &HookReport) -> Value {
    let place = |found: &Found| {
        let mut place = Map::new();
        place.insert("level".to_owned(), found.place.level.as_str().into());
        put_path(&mut place, found.place.path.as_os_str().as_bytes());
        place.insert("events".to_owned(), json!(found.events));
        place.insert("missing".to_owned(), json!(found.missing));
        place.insert("stale".to_owned(), json!(found.stale));
        Value::Object(place)
    };
    let disabled_by = report.disabled_by.as_ref().map(|(setting, file)| {
        let mut by = Map::new();
        by.insert("setting".to_owned(), (*setting).into());
        put_path(&mut by, file.as_os_str().as_bytes());
        Value::Object(by)
    });
    json!({
        "agent": report.agent.as_str(),
        "state": report.state().as_str(),
        "places": Value::from_iter(report.found.iter().map(place)),
        "disabled_by": disabled_by,
        "trust": trust(report).map(|(word, _)| word),
        "last_event": report.last_event.as_ref().map(|(at, event)| json!({"event": event, "at": rfc3339(*at)})),
        "last_failure": report.last_failure.as_ref().map(|failure| json!({"at": failure.at, "message": failure.message})),
        "unreadable": report.unreadable,
    })
}

fn trust(report: &HookReport) -> Option<(&'static str, &'static str)> {
    match report.trust {
        Trust::NotAsked => None,
        _ if report.found.is_empty() => None,
        Trust::Unknown => Some(("unknown", "trust unknown: approve with /hooks")),
        Trust::Seen => Some(("seen", "trusted: a hook has run")),
    }
}

/// Writes a few lines for each agent.
pub fn write_status(out: &mut dyn Write, reports: &[HookReport], clock: &Clock, styles: &Styles) -> io::Result<()> {
    let shown = |path: &Path| sanitize(&path.display().to_string()).into_owned();
    for report in reports {
        let state = match (report.state(), &report.disabled_by) {
            (HookState::Disabled, Some((setting, file))) => format!("disabled by `{setting}` in {}", shown(file)),
            (HookState::NotInstalled, _) => "not installed".to_owned(),
            (state, _) => state.as_str().to_owned(),
        };
        let style = if report.state() == HookState::Installed { styles.added } else { styles.dim };
        writeln!(out, "{}: {}", styles.id.paint(report.agent), style.paint(state))?;
        for found in &report.found {
            writeln!(out, "  in {}", shown(&found.place.path))?;
            if !found.missing.is_empty() {
                writeln!(out, "  {}", styles.warning.paint(format_args!("missing: {}", found.missing.join(", "))))?;
            }
            if !found.stale.is_empty() {
                let events = sanitize(&found.stale.join(", ")).into_owned();
                writeln!(out, "  {}", styles.warning.paint(format_args!("of another version: {events}")))?;
            }
        }
        if let Some((_, text)) = trust(report) {
            writeln!(out, "  {text}")?;
        }
        if let Some((at, event)) = &report.last_event {
            writeln!(out, "  last event: {}, {}", sanitize(event), clock.age(*at))?;
        }
        if let Some(failure) = &report.last_failure {
            writeln!(
                out,
                "  {}",
                styles.warning.paint(format_args!("last failure: {}, {}", failure.at, sanitize(&failure.message)))
            )?;
        }
        if let Some(reason) = &report.unreadable {
            writeln!(out, "  {}", styles.warning.paint(sanitize(reason)))?;
        }
    }
    Ok(())
}
