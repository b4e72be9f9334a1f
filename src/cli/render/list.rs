//! The table of `list`.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use crate::cli::output::{Clock, Style, Styles, display_width, plural, sanitize, truncate};
use crate::model::{Kind, Stat, Summary};

/// How the table is to look.
pub struct Layout {
    /// The looks of what it holds.
    pub styles: Styles,
    /// The columns of the terminal; none where lines may be of any length.
    pub width: Option<usize>,
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

/// A look, of those that the terminal has.
type StyleOf = fn(&Styles) -> Style;

/// Lines that are written once all of them are known, because only then the columns have their widths. What they hold stands one
/// after the other in a few long texts: a long list has many lines.
pub struct Table<'a> {
    clock: &'a Clock,
    worktrees: Worktrees,
    columns: Vec<Column>,
    labels: Labels,
    /// The line of the checkpoint that equals the present state.
    current: Option<usize>,
}

/// One column but the last.
struct Column {
    text: String,
    /// Where each cell ends in the text, and how many columns of the terminal it takes.
    cells: Vec<(usize, usize)>,
    width: usize,
    content: Content,
    style: StyleOf,
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

/// The last column: names, subject and remarks.
#[derive(Default)]
struct Labels {
    text: String,
    /// The look of each part, and where it ends in the text.
    parts: Vec<(StyleOf, usize)>,
    /// Where each line ends among the parts.
    lines: Vec<usize>,
}

impl<'a> Table<'a> {
    /// A table without lines. `clock` has the present time, for ages.
    pub fn new(clock: &'a Clock, worktrees: Worktrees) -> Table<'a> {
        let columns: [(Content, StyleOf); 8] = [
            (Content::Count, |s| s.id),
            (Content::Text, |s| s.dim),
            (Content::Text, |s| s.path),
            (Content::Text, |s| s.path),
            (Content::Count, |s| s.path),
            (Content::Lines, |s| s.added),
            (Content::Lines, |s| s.removed),
            (Content::Text, |s| s.dim),
        ];
        let column = |(content, style)| Column { text: String::new(), cells: Vec::new(), width: 0, content, style };
        Table { clock, worktrees, columns: columns.map(column).into(), labels: Labels::default(), current: None }
    }

    /// Adds a line. One of them may be of the checkpoint that equals the present state of the worktree.
    pub fn add(&mut self, c: &Summary<'_>, is_current: bool) {
        if is_current {
            self.current = Some(self.labels.lines.len());
        }
        let changed = |sign, count: fn(&Stat) -> u64| Counted(sign, c.stat.as_ref().map_or(0, count));
        let [number, when, kind, stage, files, added, removed, worktree] = self.columns.as_mut_slice() else { return };
        number.add(|text| write!(text, "{}", c.number));
        when.add(|text| text.write_str(&self.clock.when(c.created_at)));
        kind.add(|text| text.write_str(c.kind.as_str()));
        stage.add(|text| text.write_str(&stage_of(c)));
        files.add(|text| c.stat.map_or(Ok(()), |stat| text.write_str(&plural(stat.files, "file"))));
        added.add(|text| changed('+', |stat| stat.insertions).write(text));
        removed.add(|text| changed('-', |stat| stat.deletions).write(text));
        worktree.add(|text| match self.worktrees {
            Worktrees::One => Ok(()),
            Worktrees::All => text.write_str(&sanitize(c.worktree)),
        });
        self.labels.add(c);
    }

    /// True if it has no line.
    pub fn is_empty(&self) -> bool {
        self.labels.lines.is_empty()
    }

    /// Writes the lines and, after each, what `more` adds for it.
    pub fn write(
        mut self,
        out: &mut dyn Write,
        layout: &Layout,
        mut more: impl FnMut(&mut dyn Write, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let room = self.fit(layout.width);
        let styles = &layout.styles;
        for line in 0..self.labels.lines.len() {
            let is_current = self.current == Some(line);
            if is_current {
                write!(out, "{} ", styles.current.paint('*'))?;
            } else {
                out.write_all(b"  ")?;
            }
            for (place, column) in self.columns.iter().enumerate() {
                let style = if is_current && place == 0 { styles.current } else { (column.style)(styles) };
                column.write(out, line, style)?;
            }
            self.labels.write(out, line, styles, room)?;
            out.write_all(&[layout.end])?;
            more(out, line)?;
        }
        Ok(())
    }

    /// Drops the columns that are empty in every line, and those that there is no room for. Returns how wide a label may be.
    fn fit(&mut self, width: Option<usize>) -> Option<usize> {
        let columns = &mut self.columns;
        columns.retain(|column| column.width > 0);
        let room = |columns: &[Column]| {
            let taken = 2 + columns.iter().map(|column| column.width + GAP).sum::<usize>();
            width.map(|width| width.saturating_sub(taken))
        };
        // The number and the label stay; of the rest the rightmost goes first.
        while columns.len() > 1 && room(columns).is_some_and(|room| room < SHORTEST_LABEL) {
            // Added lines without the removed ones would mislead.
            let is_half = |column: &Column| matches!(column.content, Content::Lines);
            if columns.pop().as_ref().is_some_and(is_half) && columns.last().is_some_and(is_half) {
                columns.pop();
            }
        }
        room(columns)
    }
}

/// A count with its sign; nothing if it is none.
struct Counted(char, u64);

impl Counted {
    fn write(&self, text: &mut String) -> fmt::Result {
        if self.1 > 0 { write!(text, "{}{}", self.0, self.1) } else { Ok(()) }
    }
}

impl Column {
    fn add(&mut self, cell: impl FnOnce(&mut String) -> fmt::Result) {
        let start = self.text.len();
        // Writing into a string cannot fail.
        cell(&mut self.text).unwrap_or_default();
        let width = display_width(&self.text[start..]);
        self.cells.push((self.text.len(), width));
        self.width = self.width.max(width);
    }

    fn write(&self, out: &mut dyn Write, line: usize, style: Style) -> io::Result<()> {
        let start = if line == 0 { 0 } else { self.cells[line - 1].0 };
        let (end, width) = self.cells[line];
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

impl Labels {
    fn add(&mut self, c: &Summary<'_>) {
        if !c.names.is_empty() {
            self.part(|s| s.header, format_args!("({})", sanitize(&c.names.join(", "))));
        }
        self.part(|s| s.path, format_args!("{}", sanitize(c.subject)));
        if c.skipped > 0 {
            self.part(|s| s.warning, format_args!("[{} skipped]", c.skipped));
        }
        // An origin is a machine's name and something that makes it unique.
        if let Some(origin) = c.origin.and_then(|origin| origin.split(' ').next()) {
            self.part(|s| s.dim, format_args!("[from {}]", sanitize(origin)));
        }
        self.lines.push(self.parts.len());
    }

    fn part(&mut self, style: StyleOf, text: fmt::Arguments<'_>) {
        let start = self.text.len();
        // Writing into a string cannot fail.
        self.text.write_fmt(text).unwrap_or_default();
        if self.text.len() > start {
            self.parts.push((style, self.text.len()));
        }
    }

    /// Writes what of a line's label has room.
    fn write(&self, out: &mut dyn Write, line: usize, styles: &Styles, room: Option<usize>) -> io::Result<()> {
        let first = if line == 0 { 0 } else { self.lines[line - 1] };
        let mut start = if first == 0 { 0 } else { self.parts[first - 1].1 };
        let mut left = room.unwrap_or(usize::MAX);
        for (at, (style, end)) in self.parts[first..self.lines[line]].iter().enumerate() {
            let space = usize::from(at > 0);
            if left <= space {
                break;
            }
            let text = truncate(&self.text[start..*end], left - space);
            left -= space + display_width(&text);
            spaces(out, space)?;
            style(styles).write(out, text.as_bytes())?;
            start = *end;
        }
        Ok(())
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

/// The step or turn that a checkpoint belongs to.
fn stage_of(c: &Summary<'_>) -> String {
    let turn = || c.turn.map(|turn| format!("#{turn}"));
    let step = || c.step.map(|step| truncate(&sanitize(step), 20).into_owned());
    match c.kind {
        Kind::Turn | Kind::TurnStart => turn().or_else(step),
        Kind::Manual | Kind::Baseline | Kind::Step | Kind::PreRestore => step().or_else(turn),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use snapbox::IntoData;

    use super::*;
    use crate::model::{Checkpoint, SkipReason, Skipped, WorktreeId, WorktreeRef};
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
        let clock = Clock::utc(60_000);
        let mut table = Table::new(&clock, worktrees);
        list.iter().for_each(|checkpoint| table.add(&checkpoint.into(), checkpoint.number == list[0].number));
        let mut out = Vec::new();
        table.write(&mut out, &Layout { styles, width, end: b'\n' }, |_, _| Ok(())).unwrap();
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
