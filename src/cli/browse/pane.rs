//! The pane beside the timeline: the difference it shows, and the place in it.

use super::look::Spans;
use super::work::{Change, View};

/// What is shown beside the timeline.
#[derive(Debug, Default)]
pub(super) struct Pane {
    /// What is wanted.
    view: Option<View>,
    state: State,
    /// The first line on the screen.
    top: usize,
    /// The first column.
    left: usize,
    /// How many lines the screen had when it was last drawn.
    pub(super) height: usize,
}

/// How far it has come.
#[derive(Debug, Default)]
pub(super) enum State {
    /// There is nothing to show.
    #[default]
    Empty,
    /// It is being worked out.
    Loading,
    /// Here it is.
    Loaded(Change),
    /// It could not be worked out.
    Failed(String),
}

/// Columns that a step to the side takes.
const SIDEWAYS: usize = 8;

impl Pane {
    /// Wants another view. True if it has to be asked for.
    pub(super) fn want(&mut self, view: Option<View>) -> bool {
        if self.view == view {
            return false;
        }
        self.view = view;
        self.state = if view.is_some() { State::Loading } else { State::Empty };
        (self.top, self.left) = (0, 0);
        view.is_some()
    }

    /// Forgets what it shows, so that it is asked for again.
    pub(super) fn forget(&mut self) {
        self.view = None;
    }

    pub(super) fn view(&self) -> Option<View> {
        self.view
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Takes what was worked out, if it is still wanted.
    pub(super) fn take(&mut self, view: View, change: Result<Change, String>) {
        if self.view == Some(view) {
            self.state = match change {
                Ok(change) => State::Loaded(change),
                Err(error) => State::Failed(error),
            };
        }
    }

    fn lines(&self) -> &[Spans] {
        match &self.state {
            State::Loaded(change) => &change.lines,
            State::Empty | State::Loading | State::Failed(_) => &[],
        }
    }

    /// The first line and column on the screen.
    pub(super) fn offset(&self) -> (usize, usize) {
        (self.top, self.left)
    }

    pub(super) fn scroll_by(&mut self, count: isize) {
        let last = self.lines().len().saturating_sub(self.height.max(1));
        self.top = self.top.saturating_add_signed(count).min(last);
    }

    pub(super) fn scroll_to_top(&mut self) {
        self.top = 0;
    }

    pub(super) fn scroll_to_end(&mut self) {
        self.scroll_by(isize::MAX);
    }

    pub(super) fn sideways(&mut self, by: isize) {
        self.left = self.left.saturating_add_signed(by.saturating_mul(SIDEWAYS as isize)).min(4000);
    }

    /// Goes to the patch of the next file.
    pub(super) fn next_file(&mut self) {
        if let State::Loaded(change) = &self.state
            && let Some(at) = change.files.iter().find(|at| **at > self.top)
        {
            self.top = *at;
        }
    }

    /// Goes to the patch of the file before, or to the top.
    pub(super) fn previous_file(&mut self) {
        if let State::Loaded(change) = &self.state {
            self.top = change.files.iter().rev().find(|at| **at < self.top).copied().unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded() -> Pane {
        let mut pane = Pane { height: 4, ..Pane::default() };
        assert!(pane.want(Some(View::Change(1))));
        pane.take(View::Change(1), Ok(Change { lines: vec![Vec::new(); 10], files: vec![3, 8] }));
        pane
    }

    #[test]
    fn it_scrolls_as_far_as_there_are_lines() {
        let mut pane = loaded();

        pane.scroll_by(100);
        assert_eq!(pane.offset(), (6, 0));
        pane.scroll_by(-100);
        assert_eq!(pane.offset(), (0, 0));
        pane.sideways(1);
        pane.sideways(-2);
        assert_eq!(pane.offset(), (0, 0));
    }

    #[test]
    fn it_goes_from_file_to_file() {
        let mut pane = loaded();
        let mut tops = Vec::new();
        for step in [Pane::next_file, Pane::next_file, Pane::next_file, Pane::previous_file, Pane::previous_file] {
            step(&mut pane);
            tops.push(pane.offset().0);
        }

        assert_eq!(tops, [3, 8, 8, 3, 0]);
    }

    #[test]
    fn what_is_not_wanted_any_more_is_not_shown() {
        let mut pane = loaded();

        assert!(pane.want(Some(View::Change(2))));
        pane.take(View::Change(1), Ok(Change::default()));
        assert!(matches!(pane.state(), State::Loading));
        assert!(!pane.want(Some(View::Change(2))));
        assert!(!pane.want(None));
        assert!(matches!(pane.state(), State::Empty));
    }
}
