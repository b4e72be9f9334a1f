//! The state of the screen: what it shows and what it waits for. It draws nothing, reads no keys and works nothing out.

use super::dialog::Dialog;
use super::look::{Look, Tone};
use super::pane::Pane;
use super::timeline::Timeline;
use super::work::{Deed, Ending, Order, Outcome, Plan, Report, View};
use crate::cli::output::Clock;
use crate::sys;

/// Which part the keys are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Timeline,
    Pane,
}

/// Everything that is on the screen.
pub(super) struct Screen {
    pub(super) look: Look,
    /// The top of the worktree, for the title.
    pub(super) place: String,
    pub(super) timeline: Timeline,
    pub(super) pane: Pane,
    pub(super) focus: Focus,
    pub(super) dialog: Option<Dialog>,
    /// The filter is being typed.
    pub(super) is_filtering: bool,
    /// The checkpoint that others are compared with.
    pub(super) marked: Option<u64>,
    /// Checkpoints are compared with the worktree.
    pub(super) against_worktree: bool,
    pub(super) all_worktrees: bool,
    /// Not all checkpoints are here yet.
    pub(super) is_loading: bool,
    /// What happened last, until the next key.
    pub(super) message: Option<(Tone, String)>,
    /// What stands in the way of everything.
    pub(super) trouble: Option<String>,
    pub(super) clock: Clock,
    /// How many lines of the timeline there are on the screen.
    pub(super) page: usize,
    /// There is no room to show anything, so nothing can be agreed to.
    pub(super) is_too_small: bool,
    /// The plan that stands over the screen was drawn.
    pub(super) is_plan_drawn: bool,
    /// The person wants to leave.
    pub(super) is_left: bool,
    /// What was done, to be said again when the screen is gone.
    pub(super) done: Vec<String>,
}

impl Screen {
    /// A screen that waits for its checkpoints.
    pub(super) fn new(look: Look, place: String) -> Screen {
        Screen {
            look,
            place,
            timeline: Timeline::default(),
            pane: Pane::default(),
            focus: Focus::Timeline,
            dialog: None,
            is_filtering: false,
            marked: None,
            against_worktree: false,
            all_worktrees: false,
            is_loading: true,
            message: None,
            trouble: None,
            clock: Clock::new(sys::now_millis()),
            page: 10,
            is_too_small: false,
            is_plan_drawn: false,
            is_left: false,
            done: Vec::new(),
        }
    }

    /// True while something is being done that has to come to its end.
    pub(super) fn is_at_work(&self) -> bool {
        matches!(self.dialog, Some(Dialog::Doing(_)))
    }

    /// The number of the checkpoint that is selected.
    pub(super) fn number(&self) -> Option<u64> {
        self.timeline.selected().map(|entry| entry.number)
    }

    /// What is to stand beside the timeline.
    fn wanted(&self) -> Option<View> {
        let number = self.number()?;
        Some(match self.marked {
            _ if self.against_worktree => View::Worktree(number),
            Some(marked) if marked != number => View::Between(marked, number),
            Some(_) | None => View::Change(number),
        })
    }

    /// Asks for what is to stand beside the timeline, if that is something else now.
    pub(super) fn look(&mut self) -> Option<Order> {
        let wanted = self.wanted();
        self.pane.want(wanted).then_some(wanted).flatten().map(Order::Look)
    }

    /// Asks for all of it anew.
    pub(super) fn read_again(&mut self) -> Order {
        self.pane.forget();
        Order::Read { all_worktrees: self.all_worktrees }
    }

    /// Takes in what was reported, and returns what is to be asked for next.
    pub(super) fn take(&mut self, report: Report) -> Vec<Order> {
        match report {
            Report::Timeline { rows, all_worktrees, is_whole } => {
                // An answer to a question that was taken back.
                if all_worktrees != self.all_worktrees {
                    return Vec::new();
                }
                self.timeline.replace(rows);
                self.is_loading = !is_whole;
                if is_whole && self.marked.is_some_and(|number| self.timeline.entry(number).is_none()) {
                    self.marked = None;
                }
            }
            Report::Counted(stats) => self.timeline.count(&stats),
            Report::Current(current) => self.timeline.current = current,
            Report::Trouble(trouble) => self.trouble = trouble,
            Report::Change(view, change) => self.pane.take(view, change),
            Report::Planned(deed, plan) => self.take_plan(&deed, plan),
            Report::Done(deed, outcome) => return self.take_outcome(&deed, outcome),
        }
        self.look().into_iter().collect()
    }

    fn take_plan(&mut self, deed: &Deed, plan: Result<Plan, String>) {
        // One that was asked for in vain: the person went on meanwhile.
        if self.dialog != Some(Dialog::Planning(deed.clone())) {
            return;
        }
        self.is_plan_drawn = false;
        self.dialog = match plan {
            Ok(plan) if plan.question.is_none() => {
                self.message = Some((Tone::Plain, plan.title));
                None
            }
            Ok(plan) => Some(Dialog::Plan { plan: Box::new(plan), top: 0 }),
            Err(error) => {
                let outcome = Outcome { title: error, lines: Vec::new(), ending: Ending::Failed };
                Some(Dialog::Outcome { outcome, top: 0 })
            }
        };
    }

    fn take_outcome(&mut self, deed: &Deed, outcome: Outcome) -> Vec<Order> {
        if outcome.ending != Ending::Failed {
            self.done.push(outcome.title.clone());
        }
        let is_short = outcome.ending == Ending::Done && outcome.lines.is_empty();
        self.dialog = match is_short {
            true => {
                self.message = Some((Tone::Plain, outcome.title));
                None
            }
            false => Some(Dialog::Outcome { outcome, top: 0 }),
        };
        // The worktree is another now, and so is what compares with it.
        if matches!(deed, Deed::Restore { .. } | Deed::Undo { .. } | Deed::Redo { .. }) {
            self.timeline.current = None;
        }
        let read = self.read_again();
        std::iter::once(read).chain(self.look()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    use crate::cli::browse::keys::handle;
    use crate::cli::browse::timeline::Row;
    use crate::cli::browse::timeline::tests::entry;
    use crate::cli::browse::work::Change;

    fn screen() -> Screen {
        Screen::new(Look { colored: false }, "/w".to_owned())
    }

    fn rows(numbers: &[u64]) -> Report {
        let rows = numbers.iter().map(|number| Row::from(entry(*number, "s"))).collect();
        Report::Timeline { rows, all_worktrees: false, is_whole: true }
    }

    #[test]
    fn the_newest_checkpoint_is_looked_at_first() {
        let mut screen = screen();

        assert_eq!(screen.take(rows(&[2, 1])), [Order::Look(View::Change(2))]);
        assert_eq!(screen.take(rows(&[3, 2, 1])), []);
        assert_eq!(screen.take(rows(&[])), []);
    }

    #[test]
    fn a_marked_checkpoint_is_compared_with_the_selected_one() {
        let mut screen = screen();
        screen.take(rows(&[2, 1]));
        screen.marked = Some(2);

        assert_eq!(screen.look(), None);
        screen.timeline.move_by(1);
        assert_eq!(screen.look(), Some(Order::Look(View::Between(2, 1))));
        screen.against_worktree = true;
        assert_eq!(screen.look(), Some(Order::Look(View::Worktree(1))));
    }

    #[test]
    fn nobody_agrees_to_a_plan_that_was_not_drawn() {
        let deed = Deed::Undo { allow: Vec::new() };
        let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let yes = key(KeyCode::Char('y'));
        let mut screen = screen();
        screen.take(rows(&[2, 1]));
        screen.is_too_small = true;

        for code in [KeyCode::Char('u'), KeyCode::Char('d'), KeyCode::Char('n'), KeyCode::Enter] {
            assert_eq!((handle(&mut screen, &key(code)), screen.dialog.clone()), (Vec::new(), None));
        }
        screen.is_too_small = false;
        screen.dialog = Some(Dialog::Planning(deed.clone()));
        let plan = Plan {
            deed: deed.clone(),
            title: "undo".to_owned(),
            summary: Vec::new(),
            steps: Vec::new(),
            blockers: Vec::new(),
            question: Some("undo?".to_owned()),
            has_memory: false,
        };
        screen.take(Report::Planned(deed.clone(), Ok(plan)));
        assert_eq!(handle(&mut screen, &yes), []);
        screen.is_plan_drawn = true;
        assert_eq!(handle(&mut screen, &yes), [Order::Do(deed)]);
    }

    #[test]
    fn what_was_reported_too_late_changes_nothing() {
        let mut screen = screen();
        screen.take(rows(&[2, 1]));

        screen.take(Report::Timeline { rows: Vec::new(), all_worktrees: true, is_whole: true });
        screen.take(Report::Change(View::Change(9), Ok(Change::default())));
        screen.take(Report::Planned(Deed::Undo { allow: Vec::new() }, Err("late".to_owned())));

        assert_eq!(screen.timeline.counts(), (2, 2));
        assert_eq!((screen.pane.view(), screen.dialog), (Some(View::Change(2)), None));
    }
}
