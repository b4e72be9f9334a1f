//! What the rest of git sees of checkpoints: nothing, unless it asks.

use std::os::unix::fs::PermissionsExt;

use crate::support::{RepoState, TestRepo};

/// The hooks that commands near a save or a restore would run.
const HOOKS: [&str; 14] = [
    "reference-transaction",
    "post-checkout",
    "post-index-change",
    "pre-commit",
    "pre-merge-commit",
    "post-commit",
    "commit-msg",
    "prepare-commit-msg",
    "post-rewrite",
    "post-merge",
    "applypatch-msg",
    "pre-auto-gc",
    "pre-push",
    "fsmonitor-watchman",
];

/// Puts every hook in place; each writes its name into the returned file.
fn hook_everything(repo: &TestRepo, folder: &std::path::Path) -> std::path::PathBuf {
    let log = repo.env().root().join("hook log");
    std::fs::create_dir_all(folder).unwrap();
    for hook in HOOKS {
        let path = folder.join(hook);
        std::fs::write(&path, format!("#!/bin/sh\necho {hook} >> '{}'\n", log.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    log
}

fn every_command(repo: &TestRepo) {
    repo.write("f", "2\n");
    repo.run(["-c", "core.hooksPath=/dev/null", "add", "f"]);
    repo.write("f", "3\n");
    repo.save("A");
    repo.write("f", "4\n");
    repo.restore("A");
    repo.undo();
    repo.redo();
    repo.checkpoint(["name", "A", "other"]).success();
    repo.checkpoint(["list"]).success();
    repo.checkpoint(["diff", "A"]).success();
    repo.checkpoint(["drop", "-y", "--allow", "needed-by-undo", "pre-restore"]).success();
    repo.checkpoint(["prune", "--keep-last=1"]).success();
}

#[test]
fn no_hook_of_the_user_runs() {
    let repo = TestRepo::new();
    let log = hook_everything(&repo, &repo.git_dir().join("hooks"));
    repo.run(["update-ref", "refs/heads/proof", "HEAD"]);
    assert!(
        std::fs::read_to_string(&log).unwrap().contains("reference-transaction"),
        "the hooks do not run: this test shows nothing"
    );
    std::fs::remove_file(&log).unwrap();

    every_command(&repo);

    assert!(!log.exists(), "{}", std::fs::read_to_string(&log).unwrap());
}

#[test]
fn no_hook_in_a_configured_folder_runs() {
    let repo = TestRepo::new();
    let folder = repo.env().home().join("hooks");
    repo.config("core.hooksPath", &folder.to_string_lossy());
    let log = hook_everything(&repo, &folder);

    every_command(&repo);

    assert!(!log.exists(), "{}", std::fs::read_to_string(&log).unwrap());
}

#[test]
fn checkpoints_show_in_no_log_branch_tag_stash_push_or_clone() {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.save("A");
    let bare = repo.at("bare");
    let clone = repo.at("clone");
    let path = |repo: &TestRepo| repo.top().to_string_lossy().into_owned();

    repo.run(["init", "-q", "--bare", &path(&bare)]);
    repo.run(["push", "-q", "--all", &path(&bare)]);
    repo.run(["push", "-q", "--tags", &path(&bare)]);
    repo.run(["clone", "-q", ".", &path(&clone)]);

    for (args, lines) in
        [(["log", "--oneline"], 1), (["branch", "-a"], 1), (["tag", "-l"], 0), (["stash", "list"], 0), (["reflog", "-q"], 1)]
    {
        assert_eq!(repo.git(args).text().lines().count(), lines, "{args:?}");
    }
    assert_eq!(bare.git(["for-each-ref", "--format=%(refname)"]).text(), "refs/heads/main");
    assert!(!clone.git(["for-each-ref"]).text().contains("checkpoint"));
}

#[test]
fn an_identity_is_not_needed_and_never_used() {
    let repo = TestRepo::new();
    std::fs::write(repo.env().home().join(".gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    let mut save = repo.command("git");
    for variable in ["AUTHOR", "COMMITTER"] {
        save.env_remove(format!("GIT_{variable}_NAME")).env_remove(format!("GIT_{variable}_EMAIL"));
        save.env_remove(format!("GIT_{variable}_DATE"));
    }

    crate::support::Output::of(save.args(["checkpoint", "save", "--quiet", "--name", "A"])).success();
    repo.save("B");

    for name in ["A", "B"] {
        let people = repo.git(["log", "-1", "--format=%an <%ae> %cn <%ce>", &repo.field(name, "commit")]).text();
        assert_eq!(people, "git-checkpoint <git-checkpoint@localhost> git-checkpoint <git-checkpoint@localhost>");
    }
}

#[test]
fn nothing_is_signed() {
    let repo = TestRepo::new();
    repo.config("commit.gpgSign", "true");
    repo.config("gpg.program", "/bin/false");
    repo.config("user.signingKey", "0000");

    repo.save("A");

    assert!(!repo.git(["cat-file", "commit", &repo.field("A", "commit")]).text().contains("gpgsig"));
}

#[test]
fn settings_for_people_change_no_checkpoint_and_no_patch() {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.save("A");
    repo.write("f", "3\n");
    let plain = (repo.tree("A"), repo.checkpoint(["diff", "-p", "A"]).success().stdout);

    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.external", "false"),
        ("diff.context", "0"),
        ("diff.renames", "false"),
        ("core.quotePath", "false"),
        ("diff.algorithm", "histogram"),
        ("diff.srcPrefix", "x/"),
    ] {
        repo.config(key, value);
    }

    assert_eq!((repo.tree("A"), repo.checkpoint(["diff", "-p", "A"]).success().stdout), plain);
}

#[test]
fn no_reflog_is_written_even_where_all_refs_have_one() {
    let repo = TestRepo::new();
    repo.config("core.logAllRefUpdates", "always");
    let before = RepoState::of(&repo);

    repo.save("A");

    before.assert_same(&RepoState::of(&repo));
    assert!(!repo.common_dir().join("logs/refs/checkpoints").exists());
    assert!(!repo.common_dir().join("logs/refs/checkpoint-names").exists());
}

#[test]
fn refs_have_short_plain_names_of_fixed_depth() {
    let repo = crate::support::scenes::mixed();
    let linked = repo.linked_worktree("linked");
    repo.checkpoint(["save", "--quiet", "--session", &"s".repeat(56)]).success();
    repo.checkpoint(["save", "--quiet", "--allow-empty", "--session", "Not/a Key"]).exits(129);
    repo.save("A name with spaces");
    linked.save("in linked");

    for name in repo.checkpoint_refs() {
        assert!(name.len() <= 100, "{name}");
        assert_eq!(name.split('/').count(), 4, "{name}");
        let tail = name.strip_prefix("refs/checkpoints/").unwrap();
        assert!(tail.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/".contains(&byte)), "{name}");
    }
}

#[test]
fn no_scratch_file_is_left_anywhere() {
    let repo = crate::support::scenes::mixed();
    let litter = |repo: &TestRepo| {
        let found = std::process::Command::new("find")
            .arg(repo.common_dir())
            .args(["-name", "*.lock", "-o", "-name", "tmp*", "-o", "-name", "*.tmp", "-o", "-name", "*.keep"])
            .output();
        String::from_utf8(found.unwrap().stdout).unwrap()
    };

    repo.save("A");
    repo.write("f", "later\n");
    repo.restore("A");
    repo.undo();
    repo.try_save("bad\nname").fails();
    repo.try_restore("nothing").fails();

    let lines = litter(&repo);
    let left: Vec<_> = lines.lines().filter(|line| !line.contains("/checkpoint/lock")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(repo.env().root().join("tmp").read_dir().unwrap().next().is_none(), "files left in TMPDIR");
}
