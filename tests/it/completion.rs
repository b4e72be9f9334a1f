//! Completion in real shells: of `git checkpoint …`, of `git-checkpoint …`, and behind git's own options.

use std::path::Path;

use crate::support::{Terminal, TestRepo, tools};

/// A shell that completions are there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    fn is_here(self) -> bool {
        match self {
            Shell::Bash => {
                tools::has("bash", &["-c", "test -e /usr/share/bash-completion/bash_completion"]) && tools::has("tmux", &["-V"])
            }
            Shell::Zsh => tools::has("zsh", &["--version"]) && tools::has("tmux", &["-V"]),
            Shell::Fish => tools::has("fish", &["--version"]) && tools::has("tmux", &["-V"]),
        }
    }

    /// Puts our file where the installer puts it, and sets the shell up as its manual says. Returns how to start it.
    fn set_up(self, repo: &TestRepo) -> &'static str {
        let home = repo.env().home();
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
        let put = |from: &str, to: &str| {
            let to = home.join(".local/share").join(to);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(ours.join(from), to).unwrap();
        };
        match self {
            Shell::Bash => {
                put("git-checkpoint.bash", "bash-completion/completions/git-checkpoint");
                let rc = "PS1='> '; bind 'set bell-style none'; . /usr/share/bash-completion/bash_completion\n";
                std::fs::write(home.join(".bashrc"), rc).unwrap();
                "exec bash -i"
            }
            Shell::Zsh => {
                put("_git-checkpoint", "zsh/site-functions/_git-checkpoint");
                let rc = "PS1='> '; unsetopt beep; fpath=(~/.local/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u\n";
                std::fs::write(home.join(".zshrc"), rc).unwrap();
                "exec zsh -i"
            }
            Shell::Fish => {
                put("git-checkpoint.fish", "fish/vendor_conf.d/git-checkpoint.fish");
                let config =
                    "function fish_prompt; echo -n '> '; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0\n";
                std::fs::create_dir_all(home.join(".config/fish")).unwrap();
                std::fs::write(home.join(".config/fish/config.fish"), config).unwrap();
                "exec fish -i"
            }
        }
    }
}

/// A repository with named checkpoints and a second one beside it.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.save("alpha");
    repo.save("beta two");
    repo.checkpoint(["save", "--quiet", "--allow-empty", "--step", "build"]).success();
    repo.write("unmistakable-file", "x\n");
    let other = repo.neighbour("other");
    other.save("gamma");
    repo.run(["config", "--global", "alias.cp", "checkpoint"]);
    repo
}

/// What is typed before the key, and what stands on the line afterwards.
type Lines = [(&'static str, &'static str)];

fn completes(shell: Shell, lines: &Lines) {
    if !shell.is_here() {
        return;
    }
    let repo = repository();
    let terminal = Terminal::start(repo.env(), repo.top(), shell.set_up(&repo));
    terminal.wait_for("a prompt", |screen| screen.contains('>'));
    for (typed, expected) in lines {
        terminal.enter(typed);
        terminal.wait_for(typed, |screen| last_line(screen) == format!("> {typed}").trim_end());
        terminal.press("Tab");
        terminal.wait_for(expected, |screen| last_line(screen) == format!("> {expected}"));
        // A fresh line on a fresh screen.
        terminal.press("C-u");
        terminal.press("C-l");
        terminal.wait_for("an empty line", |screen| last_line(screen) == ">");
    }
}

fn last_line(screen: &str) -> &str {
    screen.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim_end()
}

/// What every shell must complete.
const EVERYWHERE: &Lines = &[
    ("git checkpoint rest", "git checkpoint restore"),
    ("git-checkpoint rest", "git-checkpoint restore"),
    ("git -C ../other checkpoint rest", "git -C ../other checkpoint restore"),
    ("git checkpoint restore --dry", "git checkpoint restore --dry-run"),
    ("git-checkpoint restore --dry", "git-checkpoint restore --dry-run"),
    ("git checkpoint restore alp", "git checkpoint restore alpha"),
    ("git-checkpoint show alp", "git-checkpoint show alpha"),
    ("git checkpoint show step:bu", "git checkpoint show step:build"),
    ("git checkpoint save --kind man", "git checkpoint save --kind manual"),
    ("git checkpoint completions zs", "git checkpoint completions zsh"),
];

#[test]
fn bash_completes() {
    completes(Shell::Bash, EVERYWHERE);
}

#[test]
fn zsh_completes() {
    completes(Shell::Zsh, EVERYWHERE);
}

#[test]
fn fish_completes() {
    completes(Shell::Fish, EVERYWHERE);
}

#[test]
fn bash_completes_names_with_spaces_other_repositories_aliases_and_files() {
    completes(
        Shell::Bash,
        &[
            ("git checkpoint show bet", r"git checkpoint show beta\ two"),
            ("git checkpoint show 'bet", "git checkpoint show 'beta two'"),
            ("git -C ../other checkpoint show gam", "git -C ../other checkpoint show gamma"),
            ("git --git-dir=../other/.git checkpoint show gam", "git --git-dir=../other/.git checkpoint show gamma"),
            ("git -c a.b=c checkpoint show alp", "git -c a.b=c checkpoint show alpha"),
            ("git cp rest", "git cp restore"),
            ("git checkpoint diff -- unm", "git checkpoint diff -- unmistakable-file"),
            ("git checkpoint save --kind=man", "git checkpoint save --kind=manual"),
        ],
    );
}

#[test]
fn zsh_completes_names_with_spaces_other_repositories_and_files() {
    completes(
        Shell::Zsh,
        &[
            ("git checkpoint show bet", r"git checkpoint show beta\ two"),
            ("git -C ../other checkpoint show gam", "git -C ../other checkpoint show gamma"),
            ("git checkpoint diff -- unm", "git checkpoint diff -- unmistakable-file"),
        ],
    );
}

#[test]
fn fish_completes_names_with_spaces_other_repositories_and_files() {
    completes(
        Shell::Fish,
        &[
            ("git checkpoint show bet", r"git checkpoint show beta\ two"),
            ("git -C ../other checkpoint show gam", "git -C ../other checkpoint show gamma"),
            ("git -c a.b=c checkpoint show alp", "git -c a.b=c checkpoint show alpha"),
            ("git checkpoint diff -- unm", "git checkpoint diff -- unmistakable-file"),
        ],
    );
}

#[test]
fn zsh_and_fish_explain_what_they_offer() {
    for shell in [Shell::Zsh, Shell::Fish] {
        if !shell.is_here() {
            continue;
        }
        let repo = repository();
        let terminal = Terminal::start(repo.env(), repo.top(), shell.set_up(&repo));
        terminal.wait_for("a prompt", |screen| screen.contains('>'));
        terminal.enter("git checkpoint ");
        terminal.press("Tab");
        terminal.wait_for("the commands with their help", |screen| {
            screen.contains("restore") && screen.contains("Bring the worktree back to a checkpoint")
        });
    }
}

#[test]
fn the_program_prints_the_scripts() {
    let repo = TestRepo::unborn();

    for (shell, file) in [("bash", "git-checkpoint.bash"), ("zsh", "_git-checkpoint"), ("fish", "git-checkpoint.fish")] {
        let script = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("completions").join(file)).unwrap();
        assert!(repo.checkpoint(["completions", shell]).success().stdout == script, "{shell}");
    }
    repo.checkpoint(["completions", "tcsh"]).exits(129);
}
