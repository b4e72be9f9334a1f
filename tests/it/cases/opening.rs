//! Which repositories are opened, and what is refused in one sentence.

use crate::support::{Output, RepoState, TestRepo};

#[test]
fn outside_a_repository_every_command_is_refused() {
    let repo = TestRepo::new();
    let outside = repo.env().root();

    for command in [&["save"] as &[&str], &["list"], &["show"], &["restore", "--yes", "1"], &["undo", "--yes"], &["diff"]] {
        let output = Output::of(repo.command("git").current_dir(&outside).arg("checkpoint").args(command)).exits(128);
        assert!(output.talk().contains("not a git repository"), "{output}");
        assert_eq!(output.text(), "");
    }
}

#[test]
fn a_bare_repository_is_refused_and_left_as_it_is() {
    let repo = TestRepo::new();
    let bare = repo.at("bare");
    repo.run(["clone", "-q", "--bare", "."].map(AsRef::as_ref).into_iter().chain([bare.top().as_os_str()]));

    bare.checkpoint(["save"]).fails().says("bare");

    assert!(!bare.path("checkpoint").exists());
    assert!(!bare.path("refs/checkpoints").exists());
}

#[test]
fn a_bare_repository_with_worktrees_works_in_a_worktree_only() {
    let repo = TestRepo::new();
    let container = repo.at("container");
    container.mkdir("");
    repo.run(["clone", "-q", "--bare", "."].map(AsRef::as_ref).into_iter().chain([container.path(".bare").as_os_str()]));
    container.write(".git", "gitdir: ./.bare\n");
    container.run(["worktree", "add", "-q", "main", "main"]);
    let worktree = container.inner("main");
    worktree.write("f", "2\n");

    container.checkpoint(["save"]).fails();
    worktree.save("A");
    worktree.write("f", "3\n");
    worktree.restore("A");

    assert_eq!(worktree.read("f"), "2\n");
    assert_eq!(container.checkpoint_refs().len(), 2);
}

#[test]
fn the_git_directory_is_no_worktree() {
    let repo = TestRepo::new();

    let output = Output::of(repo.command("git").current_dir(repo.git_dir()).args(["checkpoint", "save"])).fails();

    assert!(!output.talk().is_empty());
    assert_eq!(repo.checkpoint_refs(), Vec::<String>::new());
}

#[test]
fn what_is_left_of_a_removed_worktree_inside_another_repository_is_refused() {
    let repo = TestRepo::new();
    repo.run(["worktree", "add", "-q", "-b", "inside", "trees/inside"]);
    repo.remove("trees/inside/.git");
    let before = RepoState::of(&repo);
    let at = |args: &[&str]| Output::of(repo.command("git").current_dir(repo.path("trees/inside")).arg("checkpoint").args(args));

    at(&["save", "--quiet"]).fails().says("trees/inside");

    assert_eq!(repo.checkpoint_refs(), Vec::<String>::new());
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_repository_of_someone_else_is_refused_unless_it_is_trusted() {
    if !rustix::process::geteuid().is_root() {
        crate::support::tools::skip("only root can make files of someone else");
        return;
    }
    let repo = TestRepo::new();
    let status = std::process::Command::new("chown").args(["-R", "65534:65534"]).arg(repo.top()).status();
    assert!(status.unwrap().success());
    repo.try_git(["status"]).fails().says("dubious ownership");

    repo.checkpoint(["save"]).fails().says("safe.directory");
    repo.env().global_config("safe.directory", &repo.top().to_string_lossy());
    repo.save("A");

    assert_eq!(repo.checkpoint_refs().len(), 1);
}

#[test]
fn sha_256_repositories_save_restore_and_undo() {
    let repo = TestRepo::sha256();
    repo.write("f", "staged\n");
    repo.run(["add", "f"]);
    repo.write("f", "2\n");
    repo.write("u", "u\n");
    let status = repo.status();

    repo.save("A");
    repo.write("f", "3\n");
    repo.remove("u");
    repo.restore("A");

    assert_eq!((repo.read("f"), repo.read("u"), repo.status()), ("2\n".into(), "u\n".into(), status));
    assert_eq!(repo.tree("A").len(), 64);
    repo.assert_tree_is_gits("A");
    repo.undo();
    assert_eq!(repo.read("f"), "3\n");
    repo.assert_sound();
}

#[test]
fn a_reftable_repository_works_or_is_refused_with_nothing_written() {
    let repo = TestRepo::unborn();
    let reftable = repo.at("reftable");
    let init = ["init", "-q", "--ref-format=reftable"].map(AsRef::as_ref);
    repo.run(init.into_iter().chain([reftable.top().as_os_str()]));
    reftable.write("f", "1\n");
    reftable.commit("init");
    reftable.write("f", "2\n");
    let before = RepoState::of(&reftable);

    let output = reftable.try_save("A");

    before.assert_same(&RepoState::of(&reftable));
    if output.code() == Some(0) {
        reftable.write("f", "3\n");
        reftable.restore("A");
        assert_eq!(reftable.read("f"), "2\n");
        assert_eq!(reftable.checkpoint_refs().len(), 1);
    } else {
        output.exits(128).says("refStorage");
        assert!(!reftable.git_dir().join("refs/checkpoints").exists() && !reftable.git_dir().join("checkpoint").exists());
    }
}

#[test]
fn an_extension_that_is_unknown_is_refused() {
    let repo = TestRepo::new();
    repo.config("core.repositoryFormatVersion", "1");
    repo.config("extensions.fromTheFuture", "true");

    repo.checkpoint(["save"]).exits(128).says("fromthefuture");

    assert!(!repo.top().join(".git/checkpoint").exists());
}

#[test]
fn extensions_that_change_nothing_for_us_are_fine() {
    let repo = TestRepo::new();
    repo.config("core.repositoryFormatVersion", "1");
    repo.config("extensions.worktreeConfig", "true");
    repo.config("extensions.preciousObjects", "true");
    repo.run(["config", "--worktree", "checkpoint.maxFileSize", "1k"]);
    repo.write("big", vec![b'x'; 5000]);

    repo.save("A");

    assert!(!repo.holds("A", "big"), "the setting of the worktree was not read");
}

#[test]
fn a_shallow_and_a_partial_clone_are_captured_without_fetching() {
    let repo = TestRepo::new();
    repo.config("uploadpack.allowFilter", "true");
    repo.write("f", "2\n");
    repo.commit("two");
    for (name, option) in [("shallow", "--depth=1"), ("partial", "--filter=blob:none")] {
        let clone = repo.at(name);
        let source = format!("file://{}", repo.top().display());
        repo.run(["clone", "-q", option, &source, &clone.top().to_string_lossy()]);
        clone.config("remote.origin.url", "file:///nowhere");
        clone.write("f", "edited\n");
        clone.write("u", "u\n");

        clone.save("A");
        clone.write("f", "later\n");
        clone.restore("A");

        assert_eq!(clone.read("f"), "edited\n", "{name}");
        clone.assert_tree_is_gits("A");
    }
}

#[test]
fn directories_with_one_git_directory_have_each_their_own_undo() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "mine\n");
    let other = repo.env().shelf().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("f"), "other\n").unwrap();
    let in_other = |args: &[&str]| {
        let mut command = repo.command("git");
        command.current_dir(&other).arg("checkpoint").args(args);
        Output::of(command.env("GIT_DIR", repo.git_dir()).env("GIT_WORK_TREE", &other))
    };

    let refused = in_other(&["restore", "--yes", "--json", "A"]).exits(3);
    in_other(&["restore", "--yes", "--allow", "other-worktree", "A"]).success();

    assert_eq!(refused.json()["blockers"][0]["code"], "other-worktree", "{refused}");
    assert!(repo.checkpoint(["undo", "--yes"]).success().talk().contains("nothing to undo"));
    assert_eq!(repo.read("f"), "mine\n");
    in_other(&["undo", "--yes"]).success();
    assert_eq!(std::fs::read_to_string(other.join("f")).unwrap(), "other\n");
}
