//! The table of `list`.

use std::io::{self, Write};

use crate::cli::output::{Style, Styles, display_width, plural, sanitize, truncate, when};
use crate::model::{Checkpoint, CheckpointId, Kind, Millis};

/// How the table is to look.
pub struct Layout<'a> {
    /// The looks of what it holds.
    pub styles: Styles,
    /// The columns of the terminal; none where lines may be of any length.
    pub width: Option<usize>,
    /// The present time, for ages.
    pub now: Millis,
    /// The checkpoint that equals the present state of the worktree.
    pub current: Option<&'a CheckpointId>,
    /// Whether each line names the worktree.
    pub worktrees: Worktrees,
    /// What ends a line: a line break or NUL.
    pub end: u8,
}

/// Whether each line names the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worktrees {
    /// All lines are of this worktree.
    One,
    /// Lines are of several worktrees.
    All,
}

/// The label is cut no shorter than this before a column is dropped.
const SHORTEST_LABEL: usize = 24;

/// Space between columns.
const GAP: &str = "  ";

/// One column but the first and the last.
struct Column {
    cells: Vec<String>,
    width: usize,
    align: Align,
    style: fn(&Styles) -> Style,
}

#[derive(Clone, Copy)]
enum Align {
    Left,
    Right,
}

/// Writes a line for each of `checkpoints` and, after it, what `more` adds for it.
pub fn write(
    out: &mut dyn Write,
    checkpoints: &[Checkpoint],
    layout: &Layout<'_>,
    mut more: impl FnMut(&mut dyn Write, &Checkpoint) -> io::Result<()>,
) -> io::Result<()> {
    let mut columns = columns(checkpoints, layout);
    let room = |columns: &[Column]| {
        let taken = 2 + columns.iter().map(|column| column.width + GAP.len()).sum::<usize>();
        layout.width.map(|width| width.saturating_sub(taken))
    };
    // The number and the label stay; of the rest the rightmost goes first.
    while columns.len() > 1 && room(&columns).is_some_and(|room| room < SHORTEST_LABEL) {
        columns.pop();
    }
    let room = room(&columns);
    for (at, checkpoint) in checkpoints.iter().enumerate() {
        let is_current = layout.current == Some(&checkpoint.id);
        if is_current {
            write!(out, "{} ", layout.styles.current.paint('*'))?;
        } else {
            out.write_all(b"  ")?;
        }
        for column in &columns {
            let style = if is_current { layout.styles.current } else { (column.style)(&layout.styles) };
            let cell = &column.cells[at];
            let blank = " ".repeat(column.width.saturating_sub(display_width(cell)));
            match column.align {
                Align::Right => write!(out, "{blank}{}{GAP}", style.paint(cell))?,
                Align::Left if cell.is_empty() => write!(out, "{blank}{GAP}")?,
                Align::Left => write!(out, "{}{blank}{GAP}", style.paint(cell))?,
            }
        }
        label(out, checkpoint, &layout.styles, room)?;
        out.write_all(&[layout.end])?;
        more(out, checkpoint)?;
    }
    Ok(())
}

/// The columns from left to right, without those that are empty in every line.
fn columns(checkpoints: &[Checkpoint], layout: &Layout<'_>) -> Vec<Column> {
    let column = |align, style, cell: &dyn Fn(&Checkpoint) -> String| {
        let cells: Vec<String> = checkpoints.iter().map(cell).collect();
        let width = cells.iter().map(|cell| display_width(cell)).max().unwrap_or(0);
        Column { cells, width, align, style }
    };
    let count = |sign: char, count: u64| if count == 0 { String::new() } else { format!("{sign}{count}") };
    let stat = |c: &Checkpoint| c.stat.unwrap_or_default();
    let columns = [
        column(Align::Right, |s| s.id, &|c| c.number.to_string()),
        column(Align::Left, |s| s.dim, &|c| when(layout.now, c.created_at)),
        column(Align::Left, |s| s.path, &|c| c.kind.to_string()),
        column(Align::Left, |s| s.path, &stage),
        column(Align::Right, |s| s.path, &|c| c.stat.map(|s| plural(s.files, "file")).unwrap_or_default()),
        column(Align::Right, |s| s.added, &|c| count('+', stat(c).insertions)),
        column(Align::Right, |s| s.removed, &|c| count('-', stat(c).deletions)),
        column(Align::Left, |s| s.dim, &|c| match layout.worktrees {
            Worktrees::One => String::new(),
            Worktrees::All => sanitize(c.worktree.id.as_str()).into_owned(),
        }),
    ];
    columns.into_iter().filter(|column| column.width > 0).collect()
}

/// The step or turn that a checkpoint belongs to.
fn stage(c: &Checkpoint) -> String {
    let turn = c.turn.map(|turn| format!("#{turn}"));
    let step = c.step.as_deref().map(|step| truncate(&sanitize(step), 20).into_owned());
    match c.kind {
        Kind::Turn | Kind::TurnStart => turn.or(step),
        Kind::Manual | Kind::Baseline | Kind::Step | Kind::PreRestore => step.or(turn),
    }
    .unwrap_or_default()
}

/// Names, subject and remarks, in `room` columns.
fn label(out: &mut dyn Write, c: &Checkpoint, styles: &Styles, room: Option<usize>) -> io::Result<()> {
    let mut parts = Vec::new();
    if !c.names.is_empty() {
        parts.push((styles.header, format!("({})", sanitize(&c.names.join(", ")))));
    }
    parts.push((styles.path, sanitize(&c.subject).into_owned()));
    if !c.is_complete() {
        parts.push((styles.warning, format!("[{} skipped]", c.skipped.len())));
    }
    if let Some(origin) = &c.origin {
        parts.push((styles.dim, format!("[from {}]", sanitize(origin))));
    }
    let mut left = room.unwrap_or(usize::MAX);
    for (at, (style, text)) in parts.iter().filter(|(_, text)| !text.is_empty()).enumerate() {
        let space = usize::from(at > 0);
        if left <= space {
            break;
        }
        let text = truncate(text, left - space);
        left -= space + display_width(&text);
        write!(out, "{}{}", " ".repeat(space), style.paint(text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use snapbox::IntoData;

    use super::*;
    use crate::model::{SkipReason, Skipped, Stat, WorktreeId, WorktreeRef};
    use crate::store::testing::sample;

    fn filled() -> Vec<Checkpoint> {
        let stat = |files, insertions, deletions| Some(Stat { files, insertions, deletions });
        let linked = WorktreeRef { id: WorktreeId::linked("feature"), path: "/v".into() };
        vec![
            Checkpoint { number: 112, names: vec!["good".into()], stat: stat(3, 120, 4), ..sample(40) },
            Checkpoint {
                number: 20,
                kind: Kind::Step,
                step: Some("bu\x1bild".into()),
                stat: stat(1, 0, 1),
                worktree: linked,
                ..sample(30)
            },
            Checkpoint {
                number: 9,
                kind: Kind::Turn,
                turn: Some(3),
                subject: "日本語のとても長い件名で端末の幅には収まらない".into(),
                skipped: vec![Skipped { path: "a".into(), reason: SkipReason::Special, size: None }],
                origin: Some("laptop".into()),
                ..sample(20)
            },
        ]
    }

    fn table(width: Option<usize>, worktrees: Worktrees, styles: Styles) -> String {
        let list = filled();
        let layout = Layout { styles, width, now: 60_000, current: Some(&list[0].id), worktrees, end: b'\n' };
        let mut out = Vec::new();
        write(&mut out, &list, &layout, |_, _| Ok(())).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_wide_table_has_every_column() {
        snapbox::assert_data_eq!(
            table(None, Worktrees::All, Styles::default()),
            snapbox::str![[r#"
* 112  20 seconds ago  manual             3 files  +120  -4  main     (good) sample 40
   20  30 seconds ago  step    bu\x1bild   1 file        -1  feature  sample 30
    9  40 seconds ago  turn    #3                            main     日本語のとても長い件名で端末の幅には収まらない [1 skipped] [from laptop]

"#]]
            .raw()
        );
    }

    #[test]
    fn a_narrow_table_loses_columns_from_the_right_and_never_wraps() {
        for width in [20, 40, 60, 80] {
            let table = table(Some(width), Worktrees::One, Styles::default());

            assert!(table.lines().all(|line| display_width(line) <= width), "{width}:\n{table}");
            assert!(table.contains("112  "), "{table}");
            assert!(table.contains("(good)"), "{table}");
        }
    }

    #[test]
    fn the_same_text_stands_there_without_colour() {
        let colored = table(Some(100), Worktrees::All, Styles::new(true));
        let mut plain = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            plain.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        plain.push_str(rest);

        assert!(colored.contains("\x1b[33m"));
        assert_eq!(plain, table(Some(100), Worktrees::All, Styles::default()));
    }
}
