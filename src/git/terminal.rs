//! The part of git's configuration that tells how to talk to a terminal.

use super::Repo;

/// The settings for colour and pagers as text; what the words mean is decided where they are used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalConfig {
    /// `color.checkpoint`.
    pub color_checkpoint: Option<String>,
    /// `color.ui`.
    pub color_ui: Option<String>,
    /// `color.pager`.
    pub color_pager: Option<String>,
    /// `pager.checkpoint`.
    pub pager: Option<String>,
    /// `core.pager`.
    pub core_pager: Option<String>,
}

impl Repo {
    /// How the person wants the terminal to be used.
    pub fn terminal_config(&self) -> TerminalConfig {
        let gix = self.gix();
        let config = gix.config_snapshot();
        // A key without a value is true and has no text.
        let text = |key: &str| {
            let implied = || matches!(config.try_boolean(key), Ok(Some(true))).then(|| "true".to_owned());
            config.string(key).map(|value| value.to_string()).or_else(implied)
        };
        TerminalConfig {
            color_checkpoint: text("color.checkpoint"),
            color_ui: text("color.ui"),
            color_pager: text("color.pager"),
            pager: text("pager.checkpoint"),
            core_pager: text("core.pager"),
        }
    }
}
