//! Summaries of a difference, laid out as git does: `--stat`, `--numstat`, `--name-only`, `--name-status`.

use serde_json::{Map, Value, json};

use super::json::{SCHEMA, put_path};
use crate::cli::output::display_width;
use crate::git::diff::{Count, FileCount, Pair, Palette, Quoting, Status, total};
use crate::model::{BString, Stat};

/// The JSON document of `diff`.
pub fn document(files: &[FileCount]) -> Value {
    let Stat { files: count, insertions, deletions } = total(files);
    json!({
        "schema": SCHEMA,
        "files": Value::from_iter(files.iter().map(file_object)),
        "stat": {"files": count, "insertions": insertions, "deletions": deletions},
    })
}

fn file_object(file: &FileCount) -> Value {
    let mut object = Map::new();
    put_path(&mut object, &file.pair.newest().path);
    let status = file.pair.status();
    object.insert("status".to_owned(), status.word().into());
    let (insertions, deletions) = match file.count {
        Count::Lines { added, removed } => (Some(added), Some(removed)),
        Count::Bytes { .. } => (None, None),
    };
    object.insert("binary".to_owned(), insertions.is_none().into());
    object.insert("insertions".to_owned(), insertions.into());
    object.insert("deletions".to_owned(), deletions.into());
    let mut old = Map::new();
    if status == Status::Renamed {
        put_path(&mut old, &file.pair.oldest().path);
        old.insert("similarity".to_owned(), file.pair.similarity().into());
    }
    object.insert("renamed_from".to_owned(), if old.is_empty() { Value::Null } else { old.into() });
    object.into()
}

/// How lines end, and with that how paths are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Line by line, odd paths quoted.
    Line(Quoting),
    /// Field by field, each ending with NUL, paths as they are.
    Nul,
}

/// One path a line.
pub fn names(pairs: &[Pair], end: End, out: &mut Vec<u8>) {
    for pair in pairs {
        push_path(out, &pair.newest().path, end);
    }
}

/// What happened to each path: a letter, then the path; for a rename the similarity and both paths.
pub fn name_status(pairs: &[Pair], end: End, out: &mut Vec<u8>) {
    let separator = if end == End::Nul { 0 } else { b'\t' };
    for pair in pairs {
        let status = pair.status();
        out.extend_from_slice(status.letter().to_string().as_bytes());
        if status == Status::Renamed {
            out.extend_from_slice(format!("{:03}", pair.similarity()).as_bytes());
            out.push(separator);
            match end {
                End::Nul => out.extend_from_slice(&pair.oldest().path),
                End::Line(quoting) => quoting.push(out, &pair.oldest().path),
            }
        }
        out.push(separator);
        push_path(out, &pair.newest().path, end);
    }
}

fn push_path(out: &mut Vec<u8>, path: &[u8], end: End) {
    match end {
        End::Nul => out.extend_from_slice(path),
        End::Line(quoting) => quoting.push(out, path),
    }
    out.push(if end == End::Nul { 0 } else { b'\n' });
}

/// Lines added and removed in each file, for programs.
pub fn numstat(files: &[FileCount], end: End, out: &mut Vec<u8>) {
    for file in files {
        let counts = match file.count {
            Count::Lines { added, removed } => format!("{added}\t{removed}\t"),
            Count::Bytes { .. } => "-\t-\t".to_owned(),
        };
        out.extend_from_slice(counts.as_bytes());
        match end {
            End::Line(quoting) => {
                out.extend_from_slice(&shown_path(&file.pair.oldest().path, &file.pair.newest().path, quoting));
                out.push(b'\n');
            }
            End::Nul => {
                if file.pair.status() == Status::Renamed {
                    out.push(0);
                    push_path(out, &file.pair.oldest().path, end);
                }
                push_path(out, &file.pair.newest().path, end);
            }
        }
    }
}

/// Each file with a bar that shows how much changed, fitted to `width` columns, and the sums.
pub fn stat(files: &[FileCount], width: usize, quoting: Quoting, palette: Option<Palette>, out: &mut Vec<u8>) {
    if files.is_empty() {
        return;
    }
    let name = |file: &FileCount| shown_path(&file.pair.oldest().path, &file.pair.newest().path, quoting);
    let names: Vec<BString> = files.iter().map(name).collect();
    let layout = Layout::of(files, &names, width);
    for (file, name) in std::iter::zip(files, &names) {
        layout.line(file, name, palette, out);
    }
    push_summary(total(files), out);
}

/// ` 2 files changed, 3 insertions(+), 1 deletion(-)`, as git words it.
pub fn push_summary(stat: Stat, out: &mut Vec<u8>) {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let Stat { files, insertions, deletions } = stat;
    let mut line = format!(" {files} file{} changed", plural(files));
    if insertions > 0 || deletions == 0 {
        line.push_str(&format!(", {insertions} insertion{}(+)", plural(insertions)));
    }
    if deletions > 0 || insertions == 0 {
        line.push_str(&format!(", {deletions} deletion{}(-)", plural(deletions)));
    }
    out.extend_from_slice(line.as_bytes());
    out.push(b'\n');
}

/// The path of a file in a summary. Of a rename what both paths share is written once: `a/{b => c}/d`.
fn shown_path(old: &[u8], new: &[u8], quoting: Quoting) -> BString {
    let mut out = Vec::with_capacity(new.len() + 16);
    if old == new {
        quoting.push(&mut out, new);
        return out.into();
    }
    if quoting.needs_quotes(old) || quoting.needs_quotes(new) {
        quoting.push(&mut out, old);
        out.extend_from_slice(b" => ");
        quoting.push(&mut out, new);
        return out.into();
    }
    let head = shared_head(old, new);
    let tail = shared_tail(old, new, head);
    // Where both share a slash only, as in `a/b` and `a/c/b`, it belongs to both shared parts.
    let middle = |path: &[u8]| path[head..(path.len() - tail).max(head)].to_vec();
    let (open, close): (&[u8], &[u8]) = if head + tail > 0 { (b"{", b"}") } else { (b"", b"") };
    let parts: [&[u8]; 7] = [&old[..head], open, &middle(old), b" => ", &middle(new), close, &old[old.len() - tail..]];
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.into()
}

/// Length of the directories that both paths begin with, including the last slash.
fn shared_head(old: &[u8], new: &[u8]) -> usize {
    let equal = std::iter::zip(old, new).take_while(|(a, b)| a == b).count();
    old[..equal].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

/// Length of the components that both paths end with, including the first slash, which may be the last of the head.
fn shared_tail(old: &[u8], new: &[u8], head: usize) -> usize {
    let from = head.saturating_sub(1);
    let equal = std::iter::zip(old[from..].iter().rev(), new[from..].iter().rev()).take_while(|(a, b)| a == b).count();
    old[old.len() - equal..].iter().position(|&byte| byte == b'/').map_or(0, |slash| equal - slash)
}

/// The widths of the parts of a line.
struct Layout {
    name: usize,
    number: usize,
    graph: usize,
    most_changes: u64,
}

impl Layout {
    fn of(files: &[FileCount], names: &[BString], width: usize) -> Layout {
        let longest = names.iter().map(|name| width_of(name)).max().unwrap_or(0);
        let (mut most_changes, mut binary, mut number) = (0, 0, 0);
        for file in files {
            match file.count {
                Count::Lines { added, removed } => most_changes = most_changes.max(added + removed),
                Count::Bytes { old, new } => {
                    // `Bin 12 -> 345 bytes`
                    binary = binary.max(14 + digits(old) + digits(new));
                    number = 3;
                }
            }
        }
        number = number.max(digits(most_changes));
        let width = width.max(16 + 6 + number);
        let changes = usize::try_from(most_changes).unwrap_or(usize::MAX - 4);
        let mut graph = if changes + 4 > binary { changes } else { binary - 4 };
        let mut name = longest;
        if name + number + 6 + graph > width {
            // The bar gets three eighths of the line, the name what is left.
            let share = (width * 3 / 8).cast_signed() - number.cast_signed() - 6;
            if graph.cast_signed() > share {
                graph = share.max(6).cast_unsigned();
            }
            if name > width - number - 6 - graph {
                name = width - number - 6 - graph;
            } else {
                graph = width - number - 6 - name;
            }
        }
        Layout { name, number, graph, most_changes }
    }

    fn line(&self, file: &FileCount, name: &BString, palette: Option<Palette>, out: &mut Vec<u8>) {
        let number = self.number;
        let (added_style, removed_style, reset) =
            palette.map_or(("", "", ""), |palette| (palette.new, palette.old, palette.reset));
        out.push(b' ');
        self.push_name(name, out);
        match file.count {
            Count::Bytes { old: 0, new: 0 } => out.extend_from_slice(format!(" | {:>number$}\n", "Bin").as_bytes()),
            Count::Bytes { old, new } => {
                let bin = format!(" | {:>number$} {removed_style}{old}{reset} -> {added_style}{new}{reset} bytes\n", "Bin");
                out.extend_from_slice(bin.as_bytes());
            }
            Count::Lines { added, removed } => {
                let changes = added + removed;
                let space = if changes > 0 { " " } else { "" };
                out.extend_from_slice(format!(" | {changes:>number$}{space}").as_bytes());
                let (plus, minus) = self.scale(added, removed);
                for (count, sign, style) in [(plus, "+", added_style), (minus, "-", removed_style)] {
                    if count > 0 {
                        out.extend_from_slice(format!("{style}{}{reset}", sign.repeat(count)).as_bytes());
                    }
                }
                out.push(b'\n');
            }
        }
    }

    /// The name, padded; one that is too long loses its beginning, to a slash if there is one.
    fn push_name(&self, name: &[u8], out: &mut Vec<u8>) {
        let (mut rest, mut room) = (name, self.name);
        if width_of(rest) > room {
            out.extend_from_slice(b"...");
            room = room.saturating_sub(3);
            // Git skips as many bytes as there are columns too many, and so do we.
            rest = &rest[(width_of(rest) - room).min(rest.len())..];
            rest = rest.iter().position(|&byte| byte == b'/').map_or(rest, |slash| &rest[slash..]);
        }
        out.extend_from_slice(rest);
        out.resize(out.len() + room.saturating_sub(width_of(rest)), b' ');
    }

    /// How many `+` and `-` stand for the lines added and removed.
    fn scale(&self, added: u64, removed: u64) -> (usize, usize) {
        let graph = self.graph as u64;
        let columns = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        if graph > self.most_changes {
            return (columns(added), columns(removed));
        }
        let scaled = |count: u64| if count == 0 { 0 } else { 1 + count * (graph - 1) / self.most_changes };
        let mut all = scaled(added + removed);
        if all < 2 && added > 0 && removed > 0 {
            all = 2;
        }
        if added < removed {
            let plus = scaled(added);
            (columns(plus), columns(all - plus))
        } else {
            let minus = scaled(removed);
            (columns(all - minus), columns(minus))
        }
    }
}

/// Columns that a name takes. Of one that is no UTF-8, every byte takes one.
fn width_of(name: &[u8]) -> usize {
    std::str::from_utf8(name).map_or(name.len(), display_width)
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::diff::Format;
    use crate::git::diff::testing::{Dice, TwoCommits, assert_same_lines, moved_files, odd_files, write};

    /// Rewritten files of many sizes, one with a long name, one with a wide one.
    fn rewritten_files() -> TwoCommits {
        let names = ["short", "a/rather/long/name/of/a/file/deep/down/in/a/tree/of/directories.txt", "名前/ファイル"];
        let mut dice = Dice::new(5);
        let mut put = |folder: &std::path::Path| {
            for (number, name) in names.into_iter().enumerate() {
                let lines = dice.lines(10 + 300 * number);
                write(folder, name, dice.bytes(&lines));
            }
            write(folder, "one line", format!("{}\n", dice.below(9)));
        };
        let commits = std::cell::RefCell::new(&mut put);
        TwoCommits::new(|folder| commits.borrow_mut()(folder), |folder| commits.borrow_mut()(folder))
    }

    fn assert_summaries_equal_to_git(commits: &TwoCommits) {
        let comparison = commits.compare(&[]);
        let files = comparison.counts(&Format::default()).unwrap();
        let quoted = End::Line(Quoting::default());
        let text = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        for (end, nul) in [(quoted, "--no-color"), (End::Nul, "-z")] {
            let check = |option, ours: String| assert_same_lines(&ours, &commits.judge(&[option, nul]), option);
            check("--name-only", text(&|out| names(comparison.pairs(), end, out)));
            check("--name-status", text(&|out| name_status(comparison.pairs(), end, out)));
            check("--numstat", text(&|out| numstat(&files, end, out)));
        }
        for width in [1, 22, 30, 46, 60, 80, 100, 132, 250] {
            for (high_bytes, config) in [(true, "core.quotePath=true"), (false, "core.quotePath=false")] {
                let ours = text(&|out| stat(&files, width, Quoting { high_bytes }, None, out));
                let width = format!("--stat={width}");
                let judged = commits.git(&["-c", config, "diff", &width, "old", "new", "--"]);
                assert_same_lines(&ours, &judged, &width);
            }
        }
        let ours = text(&|out| stat(&files, 80, Quoting::default(), Some(Palette::GIT), out));
        assert_same_lines(&ours, &commits.judge(&["--stat=80", "--color=always"]), "--color");
    }

    #[test]
    fn summaries_are_laid_out_as_git_lays_them_out() {
        assert_summaries_equal_to_git(&rewritten_files());
        assert_summaries_equal_to_git(&odd_files());
        assert_summaries_equal_to_git(&moved_files(&mut Dice::new(77)));
    }

    #[test]
    fn a_rename_shows_what_both_paths_share_once() {
        let table = [
            ("a", "b", "a => b"),
            ("d/a", "d/b", "d/{a => b}"),
            ("a/f", "b/f", "{a => b}/f"),
            ("a/b/c/f", "a/x/c/f", "a/{b => x}/c/f"),
            ("f", "d/f", "f => d/f"),
            ("a/f", "a/d/f", "a/{ => d}/f"),
            ("a/d/f", "a/f", "a/{d => }/f"),
            ("a/a/f", "a/f", "a/{a => }/f"),
            ("a b", "é", "a b => \"\\303\\251\""),
        ];
        for (old, new, shown) in table {
            assert_eq!(shown_path(old.as_bytes(), new.as_bytes(), Quoting::default()), shown, "{old} {new}");
        }
    }

    #[test]
    fn the_summary_counts_in_words() {
        let line = |files, insertions, deletions| {
            let mut out = Vec::new();
            push_summary(Stat { files, insertions, deletions }, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(1, 0, 0), " 1 file changed, 0 insertions(+), 0 deletions(-)\n");
        assert_eq!(line(2, 1, 0), " 2 files changed, 1 insertion(+)\n");
        assert_eq!(line(2, 0, 1), " 2 files changed, 1 deletion(-)\n");
        assert_eq!(line(2, 5, 4), " 2 files changed, 5 insertions(+), 4 deletions(-)\n");
    }
}
