//! The timeline: which checkpoints there are, which of them are shown, and which one is selected.

use crate::model::{Jump, Stat, TimelineEntry};

/// A checkpoint with the text that a filter is looked for in.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) entry: TimelineEntry,
    /// In lower case.
    haystack: String,
}

impl From<TimelineEntry> for Row {
    fn from(entry: TimelineEntry) -> Row {
        let turn = entry.turn.map(|turn| format!("#{turn}")).unwrap_or_default();
        let number = entry.number.to_string();
        let optional = [&entry.step, &entry.agent, &entry.prompt, &entry.origin].map(|text| text.as_deref().unwrap_or_default());
        let mut texts = vec![&number, entry.kind.as_str(), &turn, &entry.session, &entry.subject, &entry.worktree];
        texts.extend(optional);
        texts.extend(entry.names.iter().map(String::as_str));
        let haystack = texts.join("\n").to_lowercase();
        Row { entry, haystack }
    }
}

/// One line of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// The session of the checkpoints below, by the first of them.
    Session(usize),
    /// A checkpoint.
    Entry(usize),
}

/// The checkpoints, and the place among them.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    rows: Vec<Row>,
    /// What is shown of them, in order.
    lines: Vec<Line>,
    /// How many checkpoints are shown.
    shown: usize,
    /// Which line is selected: that of a checkpoint if there is any.
    selected: usize,
    filter: String,
    /// The number of the checkpoint that equals the worktree.
    pub(super) current: Option<u64>,
    /// The first line on the screen; the drawing keeps the selected one in view.
    pub(super) top: usize,
}

impl Timeline {
    /// Takes other checkpoints in place of those that there were. The same one stays selected, if it is still there.
    pub(super) fn replace(&mut self, rows: Vec<Row>) {
        let number = self.selected().map(|entry| entry.number);
        self.rows = rows;
        self.lay_out(number);
    }

    /// Takes counts for checkpoints that had none.
    pub(super) fn count(&mut self, stats: &[(u64, Stat)]) {
        for (number, stat) in stats {
            if let Some(row) = self.row_mut(*number) {
                row.entry.stat = Some(*stat);
            }
        }
    }

    /// Numbers fall from one row to the next.
    fn row_mut(&mut self, number: u64) -> Option<&mut Row> {
        let at = self.rows.binary_search_by(|row| number.cmp(&row.entry.number)).ok()?;
        self.rows.get_mut(at)
    }

    /// The checkpoint with this number, whether or not the filter lets it through.
    pub(super) fn entry(&self, number: u64) -> Option<&TimelineEntry> {
        let at = self.rows.binary_search_by(|row| number.cmp(&row.entry.number)).ok()?;
        self.rows.get(at).map(|row| &row.entry)
    }

    /// Shows only what has every word of `filter`.
    pub(super) fn set_filter(&mut self, filter: &str) {
        let number = self.selected().map(|entry| entry.number);
        filter.clone_into(&mut self.filter);
        self.lay_out(number);
    }

    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    fn lay_out(&mut self, selected: Option<u64>) {
        let filter = self.filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        self.lines.clear();
        self.shown = 0;
        let mut session = None;
        for (at, row) in self.rows.iter().enumerate() {
            if !words.iter().all(|word| row.haystack.contains(word)) {
                continue;
            }
            if session != Some(&row.entry.session) {
                self.lines.push(Line::Session(at));
                session = Some(&row.entry.session);
            }
            self.lines.push(Line::Entry(at));
            self.shown += 1;
        }
        self.selected = 0;
        self.step_to_entry();
        if let Some(number) = selected {
            self.select(number);
        }
    }

    /// Selects the checkpoint with this number, or the nearest older one that is shown.
    pub(super) fn select(&mut self, number: u64) {
        let at = self.lines.iter().position(|line| match line {
            Line::Entry(at) => self.rows[*at].entry.number <= number,
            Line::Session(_) => false,
        });
        if let Some(at) = at {
            self.selected = at;
        } else {
            self.last();
        }
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(super) fn at(&self, row: usize) -> &TimelineEntry {
        &self.rows[row].entry
    }

    /// The line that is selected.
    pub(super) fn selected_line(&self) -> usize {
        self.selected
    }

    /// The checkpoint that is selected; none if none is shown.
    pub(super) fn selected(&self) -> Option<&TimelineEntry> {
        match self.lines.get(self.selected)? {
            Line::Entry(at) => Some(self.at(*at)),
            Line::Session(_) => None,
        }
    }

    /// How many checkpoints there are, and how many are shown.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.rows.len(), self.shown)
    }

    /// The greatest number, for the width of its column.
    pub(super) fn greatest(&self) -> u64 {
        self.rows.first().map_or(0, |row| row.entry.number)
    }

    /// Goes down `count` lines; up if it is negative.
    pub(super) fn move_by(&mut self, count: isize) {
        let last = self.lines.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(count).min(last);
        if count < 0 {
            self.step_back_to_entry();
        } else {
            self.step_to_entry();
        }
    }

    pub(super) fn first(&mut self) {
        self.selected = 0;
        self.step_to_entry();
    }

    pub(super) fn last(&mut self) {
        // The last line is always a checkpoint.
        self.selected = self.lines.len().saturating_sub(1);
    }

    /// From a session to its first checkpoint, which follows.
    fn step_to_entry(&mut self) {
        if matches!(self.lines.get(self.selected), Some(Line::Session(_))) {
            self.selected += 1;
        }
    }

    /// From a session to the checkpoint above it, or to the one below if it is the first.
    fn step_back_to_entry(&mut self) {
        if matches!(self.lines.get(self.selected), Some(Line::Session(_))) {
            self.selected = self.selected.checked_sub(1).unwrap_or(1);
        }
    }
}

/// A jump in words, such as `restored 3`.
pub(super) fn jump_words(jump: Jump) -> String {
    match jump {
        Jump::Restore(number) => format!("=> restored {number}"),
        Jump::Undo(number) => format!("<= undone to {number}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::Kind;

    pub(in crate::cli::browse) fn entry(number: u64, session: &str) -> TimelineEntry {
        TimelineEntry {
            number,
            kind: Kind::Manual,
            session: session.into(),
            step: None,
            turn: None,
            agent: None,
            prompt: None,
            subject: format!("subject {number}"),
            created_at: 0,
            worktree: "main".into(),
            origin: None,
            skipped: 0,
            names: Vec::new(),
            stat: None,
            jump: None,
        }
    }

    fn filled() -> Timeline {
        let mut timeline = Timeline::default();
        let named = TimelineEntry { names: vec!["Good Start".into()], ..entry(1, "a") };
        timeline.replace([entry(5, "b"), entry(4, "b"), entry(2, "a"), named].map(Row::from).into());
        timeline
    }

    fn number(timeline: &Timeline) -> Option<u64> {
        timeline.selected().map(|entry| entry.number)
    }

    #[test]
    fn checkpoints_stand_below_their_session() {
        let timeline = filled();

        let expected = [Line::Session(0), Line::Entry(0), Line::Entry(1), Line::Session(2), Line::Entry(2), Line::Entry(3)];
        assert_eq!(timeline.lines(), expected);
        assert_eq!(number(&timeline), Some(5));
    }

    #[test]
    fn moving_passes_over_sessions_and_stops_at_both_ends() {
        let mut timeline = filled();
        let mut visited = Vec::new();
        for step in [1, 1, 1, 1, -1, -1, -1, -1] {
            timeline.move_by(step);
            visited.extend(number(&timeline));
        }

        assert_eq!(visited, [4, 2, 1, 1, 2, 4, 5, 5]);
        timeline.last();
        assert_eq!(number(&timeline), Some(1));
        timeline.move_by(-100);
        assert_eq!(number(&timeline), Some(5));
    }

    #[test]
    fn a_filter_takes_every_word_wherever_it_stands() {
        let mut timeline = filled();

        timeline.set_filter("GOOD 1");
        assert_eq!((number(&timeline), timeline.counts()), (Some(1), (4, 1)));
        timeline.set_filter("nothing");
        assert_eq!((number(&timeline), timeline.counts()), (None, (4, 0)));
        timeline.set_filter("");
        assert_eq!(timeline.counts(), (4, 4));
    }

    #[test]
    fn the_same_checkpoint_stays_selected_when_others_come() {
        let mut timeline = filled();
        timeline.move_by(2);

        timeline.replace([entry(6, "c"), entry(5, "b"), entry(2, "a")].map(Row::from).into());
        assert_eq!(number(&timeline), Some(2));
        timeline.replace([entry(6, "c"), entry(1, "a")].map(Row::from).into());
        assert_eq!(number(&timeline), Some(1));
        timeline.replace(Vec::new());
        assert_eq!(number(&timeline), None);
    }

    #[test]
    fn counts_find_their_checkpoint() {
        let mut timeline = filled();
        let stat = Stat { files: 1, insertions: 2, deletions: 3 };

        timeline.count(&[(4, stat), (3, stat)]);

        assert_eq!(timeline.entry(4).unwrap().stat, Some(stat));
        assert_eq!(timeline.entry(5).unwrap().stat, None);
    }
}
