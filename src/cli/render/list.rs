//! The table of `list`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::cli::output::{Clock, Style, Styles, display_width, plural, sanitize, truncate};
use crate::model::{Checkpoint, CheckpointId, Kind};

/// How the table is to look.
pub struct Layout<'a> {
    /// The looks of what it holds.
    pub styles: Styles,
    /// The columns of the terminal; none where lines may be of any length.
    pub width: Option<usize>,
    /// The present time, for ages.
    pub clock: &'a Clock,
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
const GAP: usize = 2;

/// One column but the last. The cells stand one after the other in one text: a long list has many.
struct Column {
    text: String,
    /// Where each cell ends in the text, and how many columns of the terminal it takes.
    cells: Vec<(usize, usize)>,
    width: usize,
    content: Content,
    style: fn(&Styles) -> Style,
}

/// What a column holds, as far as its place depends on it.
#[derive(Clone, Copy)]
enum Content {
    /// Flush left.
    Text,
    /// Flush right.
    Count,
    /// Lines added or removed: flush right, and never one without the other.
    Lines,
}

impl Column {
    fn new(
        checkpoints: &[Checkpoint],
        content: Content,
        style: fn(&Styles) -> Style,
        mut cell: impl FnMut(&mut String, &Checkpoint),
    ) -> Column {
        let mut column = Column { text: String::new(), cells: Vec::with_capacity(checkpoints.len()), width: 0, content, style };
        for checkpoint in checkpoints {
            let start = column.text.len();
            cell(&mut column.text, checkpoint);
            let width = display_width(&column.text[start..]);
            column.cells.push((column.text.len(), width));
            column.width = column.width.max(width);
        }
        column
    }

    fn write(&self, out: &mut dyn Write, at: usize, style: Style) -> io::Result<()> {
        let start = if at == 0 { 0 } else { self.cells[at - 1].0 };
        let (end, width) = self.cells[at];
        let cell = &self.text[start..end];
        let blank = self.width.saturating_sub(width);
        let (before, after) = match self.content {
            Content::Text => (0, blank),
            Content::Count | Content::Lines => (blank, 0),
        };
        spaces(out, before)?;
        if !cell.is_empty() {
            style.write(out, cell.as_bytes())?;
        }
        spaces(out, after + GAP)
    }
}

fn spaces(out: &mut dyn Write, count: usize) -> io::Result<()> {
    const SPACES: &[u8] = &[b' '; 64];
    let mut left = count;
    while left > 0 {
        let now = left.min(SPACES.len());
        out.write_all(&SPACES[..now])?;
        left -= now;
    }
    Ok(())
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
        let taken = 2 + columns.iter().map(|column| column.width + GAP).sum::<usize>();
        layout.width.map(|width| width.saturating_sub(taken))
    };
    // The number and the label stay; of the rest the rightmost goes first.
    while columns.len() > 1 && room(&columns).is_some_and(|room| room < SHORTEST_LABEL) {
        // Added lines without the removed ones would mislead.
        let is_half = |column: &Column| matches!(column.content, Content::Lines);
        if columns.pop().as_ref().is_some_and(is_half) && columns.last().is_some_and(is_half) {
            columns.pop();
        }
    }
    let room = room(&columns);
    for (at, checkpoint) in checkpoints.iter().enumerate() {
        let is_current = layout.current == Some(&checkpoint.id);
        if is_current {
            write!(out, "{} ", layout.styles.current.paint('*'))?;
        } else {
            out.write_all(b"  ")?;
        }
        for (place, column) in columns.iter().enumerate() {
            let style = if is_current && place == 0 { layout.styles.current } else { (column.style)(&layout.styles) };
            column.write(out, at, style)?;
        }
        label(out, checkpoint, &layout.styles, room)?;
        out.write_all(&[layout.end])?;
        more(out, checkpoint)?;
    }
    Ok(())
}

/// The columns from left to right, without those that are empty in every line.
fn columns(checkpoints: &[Checkpoint], layout: &Layout<'_>) -> Vec<Column> {
    let column = |content, style: fn(&Styles) -> Style, cell: &mut dyn FnMut(&mut String, &Checkpoint)| {
        Column::new(checkpoints, content, style, cell)
    };
    // Writing into a string cannot fail.
    let add = |text: &mut String, part: std::fmt::Arguments<'_>| text.write_fmt(part).unwrap_or_default();
    let count = |text: &mut String, sign: char, count: Option<u64>| {
        if let Some(count) = count.filter(|count| *count > 0) {
            add(text, format_args!("{sign}{count}"));
        }
    };
    let columns = [
        column(Content::Count, |s| s.id, &mut |text, c| add(text, format_args!("{}", c.number))),
        column(Content::Text, |s| s.dim, &mut |text, c| text.push_str(&layout.clock.when(c.created_at))),
        column(Content::Text, |s| s.path, &mut |text, c| text.push_str(c.kind.as_str())),
        column(Content::Text, |s| s.path, &mut |text, c| text.push_str(&stage(c))),
        column(Content::Count, |s| s.path, &mut |text, c| {
            if let Some(stat) = c.stat {
                text.push_str(&plural(stat.files, "file"));
            }
        }),
        column(Content::Lines, |s| s.added, &mut |text, c| count(text, '+', c.stat.map(|stat| stat.insertions))),
        column(Content::Lines, |s| s.removed, &mut |text, c| count(text, '-', c.stat.map(|stat| stat.deletions))),
        column(Content::Text, |s| s.dim, &mut |text, c| match layout.worktrees {
            Worktrees::One => {}
            Worktrees::All => text.push_str(&sanitize(c.worktree.id.as_str())),
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
    let mut parts: Vec<(Style, Cow<'_, str>)> = Vec::with_capacity(4);
    if !c.names.is_empty() {
        parts.push((styles.header, format!("({})", sanitize(&c.names.join(", "))).into()));
    }
    parts.push((styles.path, sanitize(&c.subject)));
    if !c.is_complete() {
        parts.push((styles.warning, format!("[{} skipped]", c.skipped.len()).into()));
    }
    // An origin is a machine's name and something that makes it unique.
    if let Some(origin) = c.origin.as_deref().and_then(|origin| origin.split(' ').next()) {
        parts.push((styles.dim, format!("[from {}]", sanitize(origin)).into()));
    }
    let mut left = room.unwrap_or(usize::MAX);
    for (at, (style, text)) in parts.iter().filter(|(_, text)| !text.is_empty()).enumerate() {
        let space = usize::from(at > 0);
        if left <= space {
            break;
        }
        let text = truncate(text, left - space);
        left -= space + display_width(&text);
        spaces(out, space)?;
        style.write(out, text.as_bytes())?;
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
                origin: Some("laptop x7".into()),
                ..sample(20)
            },
        ]
    }

    fn table(width: Option<usize>, worktrees: Worktrees, styles: Styles) -> String {
        let list = filled();
        let layout = Layout { styles, width, clock: &Clock::utc(60_000), current: Some(&list[0].id), worktrees, end: b'\n' };
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
    fn added_and_removed_lines_go_together() {
        for width in 20..120 {
            let table = table(Some(width), Worktrees::One, Styles::default());

            assert_eq!(table.contains("+120"), table.contains("-4"), "{width}:\n{table}");
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
