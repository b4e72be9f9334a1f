//! How what the screen shows looks, by meaning. Nothing is told by colour alone.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of text means, as far as that shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Nothing special.
    Plain,
    /// What matters less.
    Dim,
    /// Titles, names, headers of files in a patch (`color.diff.meta`).
    Strong,
    /// Numbers of checkpoints.
    Id,
    /// Headers of hunks (`color.diff.frag`).
    Fragment,
    /// Added lines (`color.diff.new`).
    Added,
    /// Removed lines (`color.diff.old`).
    Removed,
    /// White space that should not be there (`color.diff.whitespace`).
    Whitespace,
    /// What is as the worktree is now.
    Current,
    /// What a person should know.
    Warning,
    /// What went wrong, or stands in the way.
    Error,
    /// What a person can do.
    Hint,
}

/// A line of the screen, in pieces.
pub(super) type Spans = Vec<(Tone, String)>;

/// The looks of all meanings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) colored: bool,
}

impl Look {
    /// The style of a piece of text. The colours are those of the terminal's own palette, so that they do on light and dark.
    pub(super) fn style(self, tone: Tone) -> Style {
        let style = Style::new();
        if !self.colored {
            return match tone {
                Tone::Strong | Tone::Error | Tone::Warning | Tone::Current => style.add_modifier(Modifier::BOLD),
                // Else nobody would see it.
                Tone::Whitespace => style.add_modifier(Modifier::REVERSED),
                Tone::Plain | Tone::Dim | Tone::Id | Tone::Fragment | Tone::Added | Tone::Removed | Tone::Hint => style,
            };
        }
        match tone {
            Tone::Plain => style,
            Tone::Dim => style.add_modifier(Modifier::DIM),
            Tone::Strong => style.add_modifier(Modifier::BOLD),
            Tone::Id => style.fg(Color::Yellow),
            Tone::Fragment | Tone::Hint => style.fg(Color::Cyan),
            Tone::Added => style.fg(Color::Green),
            Tone::Removed => style.fg(Color::Red),
            Tone::Whitespace => style.bg(Color::Red),
            Tone::Current => style.fg(Color::Green).add_modifier(Modifier::BOLD),
            Tone::Warning => style.fg(Color::Yellow).add_modifier(Modifier::BOLD),
            Tone::Error => style.fg(Color::Red).add_modifier(Modifier::BOLD),
        }
    }
}
