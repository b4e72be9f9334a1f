//! Colours by meaning, and when to use them.

use std::fmt::{self, Display};
use std::io::{self, Write};

/// The answer of `--color`, `color.checkpoint` or `color.ui`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// Colour where a person looks.
    #[default]
    Auto,
    /// Colour always.
    Always,
    /// No colour.
    Never,
}

impl ColorChoice {
    /// The choice that a word after `--color` or a value of git's `color.*` stands for. As in git, true means `auto`.
    pub fn parse(word: &str) -> Option<ColorChoice> {
        match word.to_ascii_lowercase().as_str() {
            "auto" | "true" | "yes" | "on" | "1" => Some(ColorChoice::Auto),
            "always" => Some(ColorChoice::Always),
            "never" | "false" | "no" | "off" | "0" | "" => Some(ColorChoice::Never),
            _ => None,
        }
    }
}

/// What decides about colour besides the person's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Surroundings {
    /// The stream is a terminal, or leads to a pager at one.
    pub(super) terminal: bool,
    /// `NO_COLOR` is set and not empty.
    pub(super) no_color: bool,
    /// `CLICOLOR_FORCE` is set and neither empty nor 0.
    pub(super) force_color: bool,
    /// `TERM` is `dumb`.
    pub(super) dumb: bool,
}

/// True if a stream is coloured. `choices` come in order of precedence; `auto` leaves it to the surroundings.
pub(super) fn is_colored(choices: &[Option<ColorChoice>], surroundings: Surroundings) -> bool {
    match choices.iter().flatten().next().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if surroundings.no_color => false,
        ColorChoice::Auto if surroundings.force_color => true,
        ColorChoice::Auto => surroundings.terminal && !surroundings.dumb,
    }
}

/// One meaning's look. Plain where colour is off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Style(owo_colors::Style);

impl Style {
    /// `text` in this style. Ends with the reset that git writes (`ESC [ m`).
    pub fn paint<T: Display>(self, text: T) -> impl Display {
        Painted { style: self, text }
    }

    /// Writes bytes in this style, for content that need not be text.
    pub fn write(self, out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
        if self.is_plain() {
            return out.write_all(bytes);
        }
        write!(out, "{}", self.0.prefix_formatter())?;
        out.write_all(bytes)?;
        out.write_all(RESET.as_bytes())
    }

    /// True if nothing but the text itself is written.
    pub fn is_plain(self) -> bool {
        self.0.is_plain()
    }
}

const RESET: &str = "\x1b[m";

struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.style.is_plain() {
            return self.text.fmt(f);
        }
        write!(f, "{}{}{RESET}", self.style.0.prefix_formatter(), self.text)
    }
}

/// The looks of all meanings on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Styles {
    /// Numbers and ids of checkpoints and commits.
    pub id: Style,
    /// What matters less: ages, kinds, punctuation.
    pub dim: Style,
    /// Lines and files added.
    pub added: Style,
    /// Lines and files removed.
    pub removed: Style,
    /// Paths.
    pub path: Style,
    /// The word `warning:`.
    pub warning: Style,
    /// The word `error:`.
    pub error: Style,
    /// The word `hint:`.
    pub hint: Style,
    /// The checkpoint that equals the present state.
    pub current: Style,
    /// Titles of columns and labels.
    pub header: Style,
    /// Header lines of a patch, as `color.diff.meta`.
    pub meta: Style,
    /// Hunk headers, as `color.diff.frag`.
    pub frag: Style,
    /// The function in a hunk header, as `color.diff.func`.
    pub func: Style,
}

impl Styles {
    /// The looks for a stream with colour or without.
    pub fn new(colored: bool) -> Styles {
        if !colored {
            return Styles::default();
        }
        let style = owo_colors::Style::new;
        Styles {
            id: Style(style().yellow()),
            dim: Style(style().dimmed()),
            added: Style(style().green()),
            removed: Style(style().red()),
            path: Style(style()),
            warning: Style(style().yellow().bold()),
            error: Style(style().red().bold()),
            hint: Style(style().cyan()),
            current: Style(style().green().bold()),
            header: Style(style().bold()),
            meta: Style(style().bold()),
            frag: Style(style().cyan()),
            func: Style(style()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Surroundings = Surroundings { terminal: true, no_color: false, force_color: false, dumb: false };

    #[test]
    fn the_first_choice_that_was_made_decides() {
        let (auto, always, never) = (Some(ColorChoice::Auto), Some(ColorChoice::Always), Some(ColorChoice::Never));
        let pipe = Surroundings { terminal: false, ..TERMINAL };

        assert!(is_colored(&[None, None, None], TERMINAL));
        assert!(!is_colored(&[None, None, None], pipe));
        assert!(is_colored(&[always, never, never], pipe));
        assert!(!is_colored(&[never, always, always], TERMINAL));
        assert!(!is_colored(&[None, never, always], TERMINAL));
        assert!(!is_colored(&[None, auto, always], pipe));
    }

    #[test]
    fn the_environment_decides_only_where_nothing_else_does() {
        let no_color = Surroundings { no_color: true, ..TERMINAL };
        let dumb = Surroundings { dumb: true, ..TERMINAL };
        let forced = Surroundings { terminal: false, force_color: true, ..dumb };

        assert!(!is_colored(&[None], no_color));
        assert!(is_colored(&[Some(ColorChoice::Always)], no_color));
        assert!(!is_colored(&[None], dumb));
        assert!(is_colored(&[None], forced));
    }

    #[test]
    fn a_style_writes_gits_own_sequences() {
        let styles = Styles::new(true);
        let mut out = Vec::new();
        styles.meta.write(&mut out, b"diff\xff").unwrap();

        assert_eq!(styles.removed.paint("-a").to_string(), "\x1b[31m-a\x1b[m");
        assert_eq!(out, b"\x1b[1mdiff\xff\x1b[m");
        assert_eq!(Styles::new(false).removed.paint("-a").to_string(), "-a");
        assert_eq!(styles.path.paint("-a").to_string(), "-a");
    }
}
