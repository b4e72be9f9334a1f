//! What keys do. The same keys as in pagers and editors; the arrows and letters mean the same.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::dialog::{Dialog, Input, Purpose};
use super::look::Tone;
use super::screen::{Focus, Screen};
use super::work::{Deed, Ending, Order};
use crate::model::What;

/// The keys with what they do, for the help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("Up Down, k j", "go up and down"),
    ("PgUp PgDn, Ctrl-B Ctrl-F", "go by a page"),
    ("Home End, g G", "go to the first and the last"),
    ("Enter, Tab", "read the change of the selected checkpoint"),
    ("Left, Tab, Esc", "go back to the timeline"),
    ("] [", "the next file of the change, the one before"),
    ("> <", "move a wide change sideways"),
    ("/", "show only what has some words; Esc shows all again"),
    ("m, Space", "mark a checkpoint: those you go to are compared with it"),
    ("w", "compare with the worktree instead"),
    ("a", "show the checkpoints of all worktrees, or of this one"),
    ("r", "restore: shows the plan and asks"),
    ("u, Ctrl-R", "undo the last restore; redo it"),
    ("n, d", "name the checkpoint; drop it"),
    ("b, e", "make a branch of it; export it into a file"),
    ("R", "read everything again"),
    ("?", "this help"),
    ("q, Ctrl-C", "leave"),
];

/// Carries out what a person did. Returns what is to be asked for.
pub(super) fn handle(screen: &mut Screen, event: &Event) -> Vec<Order> {
    let orders = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            screen.message = None;
            press(screen, *key)
        }
        Event::Paste(text) if !screen.is_too_small => paste(screen, text),
        _ => None,
    };
    orders.into_iter().chain(screen.look()).collect()
}

fn press(screen: &mut Screen, key: KeyEvent) -> Option<Order> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if is_control && key.code == KeyCode::Char('c') {
        return leave(screen);
    }
    // What a key would do cannot be seen.
    if screen.is_too_small {
        return if key.code == KeyCode::Char('q') { leave(screen) } else { None };
    }
    // With Ctrl or Alt a letter means something else.
    let key = match key.code {
        KeyCode::Char('b') if is_control => KeyCode::PageUp,
        KeyCode::Char('f') if is_control => KeyCode::PageDown,
        KeyCode::Char('u') if is_control => KeyCode::F(1),
        KeyCode::Char('r') if is_control => KeyCode::F(2),
        KeyCode::Char('n') if is_control => KeyCode::Down,
        KeyCode::Char('p') if is_control => KeyCode::Up,
        KeyCode::Char(_) if is_control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        code => code,
    };
    match screen.dialog.take() {
        Some(dialog) => in_dialog(screen, dialog, key),
        None if screen.is_filtering => in_filter(screen, key),
        None => in_view(screen, key),
    }
}

/// Deletes the line that is being typed.
const ERASE: KeyCode = KeyCode::F(1);
const REDO: KeyCode = KeyCode::F(2);

fn leave(screen: &mut Screen) -> Option<Order> {
    if screen.is_at_work() {
        screen.message = Some((Tone::Warning, "this has to come to its end first".to_owned()));
    } else {
        screen.is_left = true;
    }
    None
}

fn paste(screen: &mut Screen, text: &str) -> Option<Order> {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    match &mut screen.dialog {
        Some(Dialog::Input(input)) => input.text.push_str(&text),
        None if screen.is_filtering => {
            let filter = format!("{}{text}", screen.timeline.filter());
            screen.timeline.set_filter(&filter);
        }
        _ => {}
    }
    None
}

fn in_filter(screen: &mut Screen, key: KeyCode) -> Option<Order> {
    let mut filter = screen.timeline.filter().to_owned();
    match key {
        KeyCode::Esc => {
            screen.is_filtering = false;
            filter.clear();
        }
        KeyCode::Enter => screen.is_filtering = false,
        KeyCode::Backspace if filter.is_empty() => screen.is_filtering = false,
        KeyCode::Up => screen.timeline.move_by(-1),
        KeyCode::Down => screen.timeline.move_by(1),
        code => edit(&mut filter, code),
    }
    if filter != screen.timeline.filter() {
        screen.timeline.set_filter(&filter);
    }
    None
}

fn edit(text: &mut String, key: KeyCode) {
    match key {
        KeyCode::Char(c) => text.push(c),
        KeyCode::Backspace => {
            text.pop();
        }
        ERASE => text.clear(),
        _ => {}
    }
}

/// Keys for the timeline and the change beside it.
fn in_view(screen: &mut Screen, key: KeyCode) -> Option<Order> {
    match key {
        KeyCode::Char('q') => return leave(screen),
        KeyCode::Char('?') => screen.dialog = Some(Dialog::Help { top: 0 }),
        KeyCode::Char('/') => {
            screen.focus = Focus::Timeline;
            screen.is_filtering = true;
        }
        KeyCode::Tab => {
            screen.focus = if screen.focus == Focus::Timeline { Focus::Pane } else { Focus::Timeline };
        }
        KeyCode::Char('m' | ' ') => {
            let number = screen.number();
            screen.marked = if screen.marked == number { None } else { number };
            screen.against_worktree = false;
        }
        KeyCode::Char('w') => screen.against_worktree = !screen.against_worktree,
        KeyCode::Char('a') => {
            screen.all_worktrees = !screen.all_worktrees;
            screen.is_loading = true;
            return Some(screen.read_again());
        }
        KeyCode::Char('R') => return Some(screen.read_again()),
        KeyCode::Char(']') => screen.pane.next_file(),
        KeyCode::Char('[') => screen.pane.previous_file(),
        KeyCode::Char('>') => screen.pane.sideways(1),
        KeyCode::Char('<') => screen.pane.sideways(-1),
        KeyCode::Char('n') => ask(screen, Purpose::Name),
        KeyCode::Char('b') => ask(screen, Purpose::Branch),
        KeyCode::Char('e') => ask(screen, Purpose::Export),
        KeyCode::Char('r' | 'u' | 'd') | REDO => return act(screen, key),
        _ if screen.focus == Focus::Pane => in_pane(screen, key),
        _ => in_timeline(screen, key),
    }
    None
}

/// Begins something that changes the worktree, the checkpoints or a file.
fn act(screen: &mut Screen, key: KeyCode) -> Option<Order> {
    let number = screen.number();
    let allow = Vec::new();
    let deed = match key {
        KeyCode::Char('u') => Deed::Undo { allow },
        REDO => Deed::Redo { allow },
        KeyCode::Char('r') => Deed::Restore { number: number?, what: What::Code, allow },
        _ => Deed::Drop { number: number?, allow },
    };
    Some(plan(screen, deed))
}

/// Asks for a word that something takes.
fn ask(screen: &mut Screen, purpose: Purpose) {
    screen.dialog = screen.number().map(|number| Dialog::Input(Input::new(purpose, number)));
}

fn plan(screen: &mut Screen, deed: Deed) -> Order {
    screen.dialog = Some(Dialog::Planning(deed.clone()));
    Order::Plan(deed)
}

fn in_timeline(screen: &mut Screen, key: KeyCode) {
    let page = isize::try_from(screen.page.max(1)).unwrap_or(isize::MAX);
    match key {
        KeyCode::Up | KeyCode::Char('k') => screen.timeline.move_by(-1),
        KeyCode::Down | KeyCode::Char('j') => screen.timeline.move_by(1),
        KeyCode::PageUp => screen.timeline.move_by(-page),
        KeyCode::PageDown => screen.timeline.move_by(page),
        KeyCode::Home | KeyCode::Char('g') => screen.timeline.first(),
        KeyCode::End | KeyCode::Char('G') => screen.timeline.last(),
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => screen.focus = Focus::Pane,
        // One thing after the other.
        KeyCode::Esc if !screen.timeline.filter().is_empty() => screen.timeline.set_filter(""),
        KeyCode::Esc if screen.against_worktree => screen.against_worktree = false,
        KeyCode::Esc => screen.marked = None,
        _ => {}
    }
}

fn in_pane(screen: &mut Screen, key: KeyCode) {
    let page = isize::try_from(screen.pane.height.saturating_sub(1).max(1)).unwrap_or(isize::MAX);
    match key {
        KeyCode::Up | KeyCode::Char('k') => screen.pane.scroll_by(-1),
        KeyCode::Down | KeyCode::Char('j') => screen.pane.scroll_by(1),
        KeyCode::PageUp => screen.pane.scroll_by(-page),
        KeyCode::PageDown => screen.pane.scroll_by(page),
        KeyCode::Home | KeyCode::Char('g') => screen.pane.scroll_to_top(),
        KeyCode::End | KeyCode::Char('G') => screen.pane.scroll_to_end(),
        KeyCode::Left | KeyCode::Esc | KeyCode::Char('h') => screen.focus = Focus::Timeline,
        _ => {}
    }
}

/// Keys for what stands over the screen, which was taken off it: whatever stays has to be put back.
fn in_dialog(screen: &mut Screen, dialog: Dialog, key: KeyCode) -> Option<Order> {
    let is_close = matches!(key, KeyCode::Esc | KeyCode::Char('q'));
    match dialog {
        Dialog::Doing(_) => {
            screen.dialog = Some(dialog);
            if is_close {
                return leave(screen);
            }
        }
        Dialog::Input(input) => return in_input(screen, input, key),
        _ if is_close => {}
        Dialog::Help { .. } if matches!(key, KeyCode::Char('?')) => {}
        Dialog::Help { top } => screen.dialog = Some(Dialog::Help { top: scrolled(top, key) }),
        Dialog::Planning(_) => screen.dialog = Some(dialog),
        Dialog::Plan { plan: shown, top } => match key {
            KeyCode::Char('y') if shown.is_possible() && screen.is_plan_drawn => {
                screen.dialog = Some(Dialog::Doing(shown.deed.clone()));
                return Some(Order::Do(shown.deed));
            }
            KeyCode::Char('n') => {}
            KeyCode::Char('r') => return Some(plan(screen, shown.deed)),
            KeyCode::Char('m') if shown.has_memory => return Some(plan(screen, shown.deed.with_the_next_part())),
            KeyCode::Char('A') if shown.in_spite_of_blockers().is_some() => {
                return shown.in_spite_of_blockers().map(|deed| plan(screen, deed));
            }
            _ => screen.dialog = Some(Dialog::Plan { plan: shown, top: scrolled(top, key) }),
        },
        Dialog::Outcome { outcome, top } => match (key, outcome.ending) {
            (KeyCode::Enter, _) => {}
            (KeyCode::Char('u'), Ending::Undoable) => return Some(plan(screen, Deed::Undo { allow: Vec::new() })),
            (REDO, Ending::Redoable) => return Some(plan(screen, Deed::Redo { allow: Vec::new() })),
            _ => screen.dialog = Some(Dialog::Outcome { outcome, top: scrolled(top, key) }),
        },
    }
    None
}

fn in_input(screen: &mut Screen, mut input: Input, key: KeyCode) -> Option<Order> {
    match key {
        KeyCode::Esc => return None,
        KeyCode::Enter => {
            let deed = input.deed()?;
            screen.dialog = Some(Dialog::Doing(deed.clone()));
            return Some(Order::Do(deed));
        }
        code => edit(&mut input.text, code),
    }
    screen.dialog = Some(Dialog::Input(input));
    None
}

/// The drawing keeps it within what there is.
fn scrolled(top: usize, key: KeyCode) -> usize {
    const PAGE: usize = 8;
    match key {
        KeyCode::Up | KeyCode::Char('k') => top.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => top + 1,
        KeyCode::PageUp => top.saturating_sub(PAGE),
        KeyCode::PageDown => top + PAGE,
        KeyCode::Home | KeyCode::Char('g') => 0,
        _ => top,
    }
}
