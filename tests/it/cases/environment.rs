//! How the program is called: from anywhere, through git's own options, with and without git.

use std::os::unix::fs::symlink;

use crate::support::{Output, RepoState, TestRepo};

#[test]
fn a_save_and_a_restore_from_a_subfolder_cover_the_whole_worktree() {
    let repo = TestRepo::new();
    for path in ["a/f", "b/f"] {
        repo.write(path, "1\n");
    }
    repo.commit("two folders");
    repo.write("b/untracked", "u\n");
    let from_a =
        |args: &[&str]| Output::of(repo.command("git").current_dir(repo.path("a")).arg("checkpoint").args(args)).success();

    from_a(&["save", "--quiet", "--name", "A"]);
    repo.write("b/new", "n\n");
    repo.write("b/f", "2\n");
    from_a(&["restore", "--quiet", "--yes", "A"]);

    assert!(!repo.exists("b/new"));
    assert_eq!(repo.read("b/f"), "1\n");
    assert!(repo.holds("A", "b/untracked"));
    repo.assert_tree_is_gits("A");
}

#[test]
fn gits_own_ways_to_name_the_repository_all_work() {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    let elsewhere = repo.env().home();
    let (top, git_dir) = (repo.top().to_owned(), repo.git_dir());
    let option = |name: &str, path: &std::path::Path| format!("{name}={}", path.display());
    let calls: [Vec<String>; 3] = [
        vec!["-C".into(), top.display().to_string()],
        vec![option("--git-dir", &git_dir), option("--work-tree", &top)],
        vec!["-C".into(), top.join("..").display().to_string(), "-C".into(), "repo".into()],
    ];

    for (number, call) in calls.iter().enumerate() {
        let name = format!("call-{number}");
        let save = ["checkpoint", "save", "--quiet", "--allow-empty", "--name", &name];
        Output::of(repo.command("git").current_dir(&elsewhere).args(call).args(save)).success();
        assert_eq!(repo.blob(&name, "f"), b"2\n", "{call:?}");
    }
    let save = ["save", "--quiet", "--allow-empty", "--name", "by-variables"];
    Output::of(repo.program().current_dir(&elsewhere).env("GIT_DIR", &git_dir).env("GIT_WORK_TREE", &top).args(save)).success();
    repo.assert_tree_is_gits("by-variables");
}

#[test]
fn a_setting_given_on_gits_command_line_counts() {
    let repo = TestRepo::new();
    repo.write("big", vec![b'x'; 5000]);

    for (number, setting) in ["checkpoint.maxFileSize=1k", "checkpoint.maxfilesize=1k"].iter().enumerate() {
        let name = format!("call-{number}");
        let args = ["-c", setting, "checkpoint", "save", "--quiet", "--allow-empty", "--name", &name];
        repo.git(args).success();
        assert!(!repo.holds(&name, "big"), "{setting}");
    }
    repo.save("without");
    assert!(repo.holds("without", "big"));
    repo.git(["-c", "checkpoint.enabled=false", "checkpoint", "save", "--quiet", "--allow-empty"]).success();
    assert_eq!(repo.checkpoint_refs().len(), 3);
}

#[test]
fn the_worktree_may_be_reached_through_a_symbolic_link() {
    let repo = TestRepo::new();
    let alias = repo.env().root().join("alias");
    symlink(repo.top(), &alias).unwrap();
    repo.write("f", "2\n");
    let through = |args: &[&str]| Output::of(repo.command("git").current_dir(&alias).arg("checkpoint").args(args)).success();

    through(&["save", "--quiet", "--name", "A"]);
    repo.write("f", "3\n");
    through(&["restore", "--quiet", "--yes", "A"]);

    assert_eq!(repo.read("f"), "2\n");
    repo.restore("A");
}

#[test]
fn save_list_show_and_restore_work_without_git_on_the_path() {
    let repo = crate::support::scenes::mixed();
    let nowhere = repo.env().root().join("empty");
    std::fs::create_dir(&nowhere).unwrap();
    let alone = |args: &[&str]| Output::of(repo.program().env("PATH", &nowhere).args(args)).success();
    let before = RepoState::of(&repo).without_times();

    alone(&["save", "--quiet", "--name", "A"]);
    repo.write("f", "later\n");
    repo.write("later", "x\n");
    let listed = alone(&["list", "--format=%(name)"]).text();
    alone(&["show", "--no-pager", "A"]);
    alone(&["diff", "--no-pager", "--stat"]);
    alone(&["restore", "--quiet", "--yes", "A"]);

    assert_eq!(listed, "A");
    before.assert_same(&RepoState::of(&repo).without_times());
    alone(&["undo", "--quiet", "--yes"]);
    assert_eq!(repo.read("f"), "later\n");
}

#[test]
fn a_save_inside_a_hook_of_git_records_the_worktree() {
    let repo = TestRepo::new();
    let hook = repo.git_dir().join("hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexec git checkpoint save --quiet --name in-hook\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    repo.write("f", "2\n");
    repo.write("g", "not part of the commit\n");

    // `commit <path>` hands the hook an index of its own in `GIT_INDEX_FILE`.
    repo.run(["commit", "-q", "-m", "two", "f"]);

    assert_eq!(repo.blob("in-hook", "f"), b"2\n");
    assert_eq!(repo.blob("in-hook", "g"), b"not part of the commit\n");
    assert_eq!(repo.git(["log", "--oneline"]).text().lines().count(), 2);
}

#[test]
fn the_home_as_a_worktree_is_refused_unless_it_is_allowed() {
    let repo = TestRepo::new();
    let home = repo.env().home();
    let at_home = |args: &[&str]| Output::of(repo.command("git").current_dir(&home).args(args));
    at_home(&["init", "-q"]).success();

    at_home(&["checkpoint", "save"]).fails().says("checkpoint.allowHome");
    at_home(&["-c", "checkpoint.allowHome=true", "checkpoint", "save", "--quiet"]).success();
}

#[test]
fn output_into_a_closed_pipe_ends_quietly() {
    let repo = TestRepo::new();
    for number in 0..50 {
        repo.save(&format!("name-{number}"));
    }
    let script = "git checkpoint list --no-pager --format='%(body)%(commit)%(commit)%(commit)%(commit)'; echo \"code $?\" >&2";

    let output = Output::of(repo.command("sh").args(["-c", &format!("{{ {script}; }} | head -c 1")])).success();

    assert_eq!(output.talk(), "code 0\n");
}
