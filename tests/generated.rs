//! Files made from the program's own definition are current, and what is written by hand about it is complete.
//!
//! `UPDATE_GENERATED=1 cargo test --test generated` writes them anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to stop")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use git_checkpoint::cli::Cli;
use git_checkpoint::model::{BlockerCode, Override, SkipReason};
use git_checkpoint::ops::doctor::ProblemCode;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(project(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

/// Fails if the file differs from `content`; writes it instead where that was asked for.
#[track_caller]
fn assert_current(path: &str, content: &str) {
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        // In one step: other tests read the file meanwhile.
        let aside = project(&format!("{path}.new"));
        std::fs::write(&aside, content).unwrap();
        std::fs::rename(aside, project(path)).unwrap();
        return;
    }
    let hint = "`UPDATE_GENERATED=1 cargo test --test generated` writes it anew";
    let old = std::fs::read_to_string(project(path)).unwrap_or_default();
    for (number, (is, should)) in old.lines().zip(content.lines()).enumerate() {
        assert_eq!(is, should, "{path} line {} is out of date: {hint}", number + 1);
    }
    assert_eq!(old.len(), content.len(), "{path} is out of date: {hint}");
}

/// The definition of the program, as people call it.
fn definition() -> clap::Command {
    let mut command = Cli::command().term_width(100);
    command.build();
    command
}

/// The commands that people see, in order; in place of one that has commands of its own, those.
fn commands(definition: &clap::Command) -> Vec<clap::Command> {
    let visible = definition.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    let and_below = visible.flat_map(|command| if command.has_subcommands() { commands(command) } else { vec![command.clone()] });
    and_below.collect()
}

/// The option part of a command's page, without its heading and without what every command has.
fn options(command: clap::Command, shown: impl Fn(&clap::Arg) -> bool) -> String {
    let command = command.mut_args(|arg| {
        let hide = !shown(&arg) || ["help", "version"].contains(&arg.get_id().as_str());
        // One list for each command: headings within it are for the short help.
        with_values_in_line(arg.hide(hide).help_heading(None::<&str>))
    });
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render_options_section(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let body = page.split_once(".SH OPTIONS\n").map_or("", |(_, body)| body);
    body.trim_end().to_owned()
}

/// Possible values that need no explanation stand in the line itself, as in the short help.
fn with_values_in_line(arg: clap::Arg) -> clap::Arg {
    let values = arg.get_possible_values();
    if values.is_empty() || arg.is_hide_possible_values_set() || values.iter().any(|value| value.get_help().is_some()) {
        return arg;
    }
    let names: Vec<_> = values.iter().map(|value| value.get_name().to_owned()).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.hide_possible_values(true).help(format!("{help} [possible values: {}]", names.join(", ")))
}

/// The line that shows how a command is called, in bold where it is to be typed as it stands.
fn usage(command: &clap::Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let line = usage.trim_start_matches("Usage: ").trim();
    let words = line.split(' ').map(|word| {
        let escaped = word.replace('\\', "\\e").replace('-', "\\-");
        let typed = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if typed { format!("\\fB{escaped}\\fR") } else { escaped }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn command_sections(definition: &clap::Command) -> String {
    let sections = commands(definition).into_iter().map(|command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let long = command.get_long_about().map(|text| format!(".PP\n{text}\n")).unwrap_or_default();
        let name = command.get_bin_name().expect("the definition was built").to_owned();
        let line = usage(&command);
        let options = options(command, |arg| !arg.is_global_set());
        format!(".SS {name}\n{line}\n.PP\n{about}.\n{long}{options}\n")
    });
    sections.collect::<String>().trim_end().to_owned()
}

fn synopsis(definition: &clap::Command) -> String {
    let lines = commands(definition).into_iter().map(|command| {
        let line = usage(&command);
        if command.get_name() == "save" { line.replace("\\fBsave\\fR", "[\\fBsave\\fR]") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n.br\n")
}

fn format_fields() -> String {
    let fields = git_checkpoint::cli::format_fields().map(|field| format!("\\fB%({field})\\fR"));
    fields.collect::<Vec<_>>().join("\n")
}

fn manual() -> String {
    let definition = definition();
    let template = read("man/git-checkpoint.1.in");
    let (_, template) = template.split_once(".TH").expect("the template has a title");
    let parts = [
        ("@VERSION@", env!("CARGO_PKG_VERSION").to_owned()),
        ("@SYNOPSIS@", synopsis(&definition)),
        ("@COMMANDS@", command_sections(&definition)),
        ("@GLOBAL_OPTIONS@", options(definition.clone(), clap::Arg::is_global_set)),
        ("@FORMAT_FIELDS@", format_fields()),
    ];
    let filled = parts.iter().fold(format!(".TH{template}"), |page, (name, text)| page.replace(name, text));
    // Tables need a preprocessor, which the first line asks for.
    format!("'\\\" t\n.\\\" Made from git-checkpoint.1.in: do not edit.\n{filled}")
}

/// The page of one command: `man git-checkpoint-restore` finds it.
fn page_of(command: &clap::Command, global: &str) -> String {
    let name = command.get_name().replace('-', "\\-");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let below = if command.has_subcommands() { commands(command) } else { vec![command.clone()] };
    let lines = below.iter().map(usage).collect::<Vec<_>>().join("\n.br\n");
    let long = command.get_long_about().map(|text| format!(".PP\n{text}\n")).unwrap_or_default();
    let own = |command: &clap::Command| options(command.clone(), |arg| !arg.is_global_set());
    let described = match command.has_subcommands() {
        false => format!(".SH OPTIONS\n{}", own(command)),
        true => {
            let section = |below: &clap::Command| {
                let about = below.get_about().map(ToString::to_string).unwrap_or_default();
                let long = below.get_long_about().map(|text| format!(".PP\n{text}\n")).unwrap_or_default();
                format!(".SS {}\n{about}.\n{long}{}", below.get_name(), own(below))
            };
            format!(".SH COMMANDS\n{}", below.iter().map(section).collect::<Vec<_>>().join("\n"))
        }
    };
    format!(
        ".\\\" Made from the definition of the command line: do not edit.\n\
         .TH GIT\\-CHECKPOINT\\-{} 1 \"\" \"git\\-checkpoint {}\" \"Git Manual\"\n\
         .ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.nh\n.ad l\n\
         .SH NAME\ngit\\-checkpoint\\-{name} \\- {}\n\
         .SH SYNOPSIS\n{lines}\n\
         .SH DESCRIPTION\n{about}.\n{long}.PP\n\
         How checkpoints are selected, what they hold, what a restore does and why it is refused, and the exit status, is told in\n\
         .BR git\\-checkpoint (1).\n\
         {}\n.SH GLOBAL OPTIONS\n{global}\n.SH SEE ALSO\n.BR git\\-checkpoint (1)\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        lower_first(&about),
        described.trim_end(),
    )
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The page of each command with its file name.
fn pages() -> Vec<(String, String)> {
    let definition = definition();
    let global = options(definition.clone(), clap::Arg::is_global_set);
    let visible = definition.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    visible.map(|command| (format!("man/git-checkpoint-{}.1", command.get_name()), page_of(command, &global))).collect()
}

#[test]
fn the_manual_is_current() {
    assert_current("man/git-checkpoint.1", &manual());
}

#[test]
fn every_command_has_a_page_and_every_page_a_command() {
    let pages = pages();
    for (path, page) in &pages {
        assert_current(path, page);
    }
    let there = project("man").read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<String> =
        there.filter(|name| name.starts_with("git-checkpoint-")).map(|name| format!("man/{name}")).collect();
    there.sort();
    let mut expected: Vec<String> = pages.into_iter().map(|(path, _)| path).collect();
    expected.sort();

    assert_eq!(there, expected);
}

#[test]
fn the_manual_explains_every_option() {
    let page = manual();

    for command in commands(&definition()) {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help") {
            if let Some(long) = arg.get_long() {
                let escaped = format!("\\-\\-{}", long.replace('-', "\\-"));
                assert!(page.contains(&escaped), "--{long} of {} is missing", command.get_name());
            }
        }
    }
}

#[test]
fn the_manual_explains_every_refusal_and_how_to_go_on() {
    let page = manual();

    for code in BlockerCode::ALL {
        let (word, escaped) = (code.as_str(), code.as_str().replace('-', "\\-"));
        let (_, entry) = page.split_once(&format!(".TP\n.B {escaped}\n")).unwrap_or_else(|| panic!("{word} is missing"));
        let entry = entry.split_once(".TP").map_or(entry, |(entry, _)| entry);
        let expected = match code.override_by() {
            Some(Override::Yes) => "\\-\\-yes".to_owned(),
            Some(Override::Allow) => format!("\\-\\-allow {escaped}"),
            None => String::new(),
        };
        assert!(entry.contains(&expected), "{word}: {entry}");
        assert_eq!(entry.contains("Override:"), code.override_by().is_some(), "{word}: {entry}");
    }
}

#[test]
fn the_manual_explains_every_problem() {
    let manual = read("man/git-checkpoint.1.in");
    let (_, section) = manual.split_once(".SH PROBLEMS\n").unwrap();
    let (section, _) = section.split_once(".SH ").unwrap();
    let explained: Vec<&str> = section.split(".TP\n.B ").skip(1).filter_map(|part| part.lines().next()).collect();
    let codes: Vec<String> = ProblemCode::ALL.iter().map(|code| code.as_str().replace('-', "\\-")).collect();

    assert_eq!(explained, codes);
}

#[test]
fn the_manual_explains_every_reason_why_a_path_is_not_captured() {
    let page = manual();

    for reason in SkipReason::ALL {
        let escaped = reason.as_str().replace('-', "\\-");
        assert!(page.contains(&format!(".TP\n.B {escaped}\n")), "{} is missing", reason.as_str());
    }
}

#[test]
fn the_manual_and_the_readme_explain_every_setting() {
    for file in ["man/git-checkpoint.1.in", "README.md"] {
        let text = read(file);
        for key in settings() {
            assert!(text.contains(&key), "`{key}` is missing in {file}");
        }
    }
}

/// Every `checkpoint.*` key that the sources name.
fn settings() -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut folders = vec![project("src")];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|item| item.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let keys = text.split("\"checkpoint.").skip(1).filter_map(|rest| rest.split('"').next());
            found.extend(
                keys.filter(|key| key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'.'))
                    .map(|key| format!("checkpoint.{key}")),
            );
        }
    }
    found.sort();
    found.dedup();
    assert!(found.len() > 5, "the settings were not found: {found:?}");
    found
}

#[test]
fn the_manual_has_the_table_of_exit_codes() {
    let template = read("man/git-checkpoint.1.in");
    let table = template.split_once(".TS").and_then(|(_, rest)| rest.split_once(".TE")).expect("a table").0;
    let listed: Vec<u8> = table.lines().filter_map(|line| line.split_once('|')?.0.parse().ok()).collect();

    assert_eq!(listed, git_checkpoint::cli::exit::Exit::ALL.map(|exit| exit.code()));
}

#[test]
fn the_manual_is_free_of_mistakes_that_groff_finds() {
    for page in std::iter::once(manual()).chain(pages().into_iter().map(|(_, page)| page)) {
        groff_finds_nothing(&page);
    }
}

fn groff_finds_nothing(page: &str) {
    let groff =
        Command::new("groff").args(["-man", "-t", "-Tutf8", "-ww", "-z"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut groff) = groff else {
        assert!(std::env::var_os("CHECKPOINT_TESTS_REQUIRE_ALL").is_none(), "groff is needed here and is not installed");
        return;
    };
    std::io::Write::write_all(&mut groff.stdin.take().expect("it was piped"), page.as_bytes()).unwrap();
    let output = groff.wait_with_output().unwrap();

    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_help_in_the_readme_is_current() {
    let readme = read("README.md");
    let mut definition = definition();
    let help = definition.render_help().to_string();
    let (before, rest) = readme.split_once("<!-- help -->\n").expect("the README has a place for the help");
    let (_, after) = rest.split_once("<!-- /help -->").expect("the place for the help has an end");
    let help = help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");

    assert_current("README.md", &format!("{before}<!-- help -->\n```text\n{}\n```\n<!-- /help -->{after}", help.trim_end()));
}

#[test]
fn the_definition_of_the_command_line_is_consistent() {
    Cli::command().debug_assert();
}
