//! The text and the document of `doctor`.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::json::SCHEMA;
use crate::cli::output::{Styles, plural, sanitize};
use crate::ops::doctor::{Cure, Problem, Report};

/// Writes what was found, two lines a problem, and how it stands in all.
pub fn write(out: &mut dyn Write, report: &Report, styles: &Styles) -> io::Result<()> {
    for problem in &report.problems {
        let mark = match problem.cure {
            Cure::Done => styles.added.paint("fixed:").to_string(),
            Cure::Possible | Cure::ByHand => styles.warning.paint("problem:").to_string(),
        };
        writeln!(out, "{mark} {} ({})", sanitize(&problem.message), problem.code.as_str())?;
        writeln!(out, "  {}", sanitize(&problem.hint))?;
    }
    if let Some(verified) = report.verified {
        let checkpoints = plural(verified.checkpoints as u64, "checkpoint");
        writeln!(out, "verified {checkpoints}: {} read", plural(verified.objects, "object"))?;
    }
    let left = report.problems.iter().filter(|problem| problem.cure != Cure::Done).count() as u64;
    match (left, report.problems.len() as u64) {
        (0, 0) => writeln!(out, "no problem found"),
        (0, fixed) => writeln!(out, "{} fixed, none left", plural(fixed, "problem")),
        (left, all) if left == all => writeln!(out, "{} found", plural(left, "problem")),
        (left, all) => writeln!(out, "{} fixed, {left} left", plural(all - left, "problem")),
    }
}

/// The document of `doctor`.
pub fn document(report: &Report) -> Value {
    let problem = |problem: &Problem| {
        json!({
            "code": problem.code.as_str(),
            "message": problem.message,
            "hint": problem.hint,
            "fixable": problem.cure != Cure::ByHand,
            "fixed": problem.cure == Cure::Done,
        })
    };
    json!({
        "schema": SCHEMA,
        "status": if report.is_well() { "ok" } else { "problems" },
        "problems": Value::from_iter(report.problems.iter().map(problem)),
        "verified": report.verified.map(|verified| json!({"checkpoints": verified.checkpoints, "objects": verified.objects})),
    })
}
