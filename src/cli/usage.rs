//! Reading the command line, and telling what is wrong with it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use super::exit::Exit;
use super::failure::error_document;
use super::output::{Options, Ui};
use super::{Cli, Command, browse, save};

/// Reads the command line. On help, version or an error, prints it and returns how to end.
pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Exit> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    read(&arguments).map_err(|error| tell(&error, &arguments))
}

fn read(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let cli = match Cli::try_parse_from(arguments) {
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && browse::is_there() => {
            return read_restore_alone(arguments).ok_or(error);
        }
        read => read?,
    };
    if cli.command.is_some() && cli.save != save::Args::default() {
        let message = "the options of save stand after `save`, not before another command";
        return Err(Cli::command().error(ErrorKind::ArgumentConflict, message));
    }
    Ok(cli)
}

/// `restore` and nothing else, where a person can pick a checkpoint on a screen; none if that is not what was typed.
fn read_restore_alone(arguments: &[OsString]) -> Option<Cli> {
    // Anything does for the checkpoint: it is taken out again.
    let arguments = arguments.iter().cloned().chain([OsString::from("@")]);
    let mut cli = Cli::try_parse_from(arguments).ok()?;
    let Some(Command::Restore(args)) = &mut cli.command else { return None };
    args.selector = None;
    (args.leave_all_open() && !cli.global.json).then_some(cli)
}

fn tell(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let mut ui = Ui::new(Options { json, ..Options::default() });
    // `git checkpoint --help` never arrives here: git shows the manual page instead. `-h` always does.
    let text = error.render().to_string().replace("'--help'", "`-h`");
    if !error.use_stderr() {
        let written = write!(ui.out(), "{text}").and_then(|()| ui.finish());
        return if written.is_err_and(|e| e.kind() != std::io::ErrorKind::BrokenPipe) { Exit::Fatal } else { Exit::Done };
    }
    ui.talk(&text);
    if json {
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let candidates = suggestions(error);
        let hint = "`git checkpoint -h` lists commands and options";
        let written = ui.json(&error_document("usage", message, Some(hint), &candidates)).and_then(|()| ui.finish());
        if written.is_err() {
            return Exit::Usage;
        }
    }
    Exit::Usage
}

/// The words that may have been meant.
fn suggestions(error: &clap::Error) -> Vec<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let values = kinds.into_iter().filter_map(|kind| error.get(kind));
    values
        .flat_map(|value| match value {
            ContextValue::String(word) => vec![word.clone()],
            ContextValue::Strings(words) => words.clone(),
            _ => Vec::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = ["git-checkpoint"].iter().chain(words).map(OsString::from).collect();
        super::read(&words)
    }

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_a_command_the_options_are_those_of_save() {
        let cli = read(&["-m", "list", "--name", "x"]).unwrap();

        assert!(cli.command.is_none());
        assert_eq!(cli.save.message.as_deref(), Some("list"));
        assert_eq!(cli.save.name.as_deref(), Some("x"));
    }

    #[test]
    fn an_unknown_word_is_an_error_and_no_message() {
        let error = read(&["lst"]).unwrap_err();

        assert_eq!(error.kind(), ErrorKind::InvalidSubcommand);
        assert_eq!(suggestions(&error), ["list"]);
    }

    #[test]
    fn options_of_save_before_another_command_are_refused() {
        assert_eq!(read(&["-m", "x", "list"]).unwrap_err().kind(), ErrorKind::ArgumentConflict);
    }

    #[test]
    fn restore_may_stand_alone_only_where_a_checkpoint_can_be_picked() {
        let alone = |words: &[&str]| {
            let words: Vec<OsString> = ["git-checkpoint"].iter().chain(words).map(OsString::from).collect();
            read_restore_alone(&words).is_some()
        };

        assert_eq!(read(&["restore"]).unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
        assert!(alone(&["restore"]) && alone(&["--color=never", "restore"]));
        assert!(!alone(&["restore", "--yes"]) && !alone(&["restore", "--json"]) && !alone(&["name"]));
    }

    #[test]
    fn global_options_stand_on_either_side_of_the_command() {
        for words in [["--json", "list"], ["list", "--json"]] {
            assert!(read(&words).unwrap().global.json);
        }
    }
}
