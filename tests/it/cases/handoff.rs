//! From one clone to another.

use crate::support::{Output, TestRepo};

/// Two clones of one repository; the first has checkpoint `A` with work that is not committed.
fn two_clones() -> (TestRepo, TestRepo) {
    let repo = TestRepo::new();
    let other = repo.at("other");
    repo.run(["clone", "-q"].map(AsRef::as_ref).into_iter().chain([repo.top().as_os_str(), other.top().as_os_str()]));
    repo.write("f", "staged\n");
    repo.run(["add", "f"]);
    repo.write("f", "2\n");
    repo.write("u", "u\n");
    repo.save("A");
    (repo, other)
}

fn bundle(repo: &TestRepo) -> std::path::PathBuf {
    repo.env().root().join("x.bundle")
}

fn export(repo: &TestRepo, args: &[&str]) -> Output {
    Output::of(repo.command("git").args(["checkpoint", "export", "-o"]).arg(bundle(repo)).args(args))
}

fn import(repo: &TestRepo) -> Output {
    Output::of(repo.command("git").args(["checkpoint", "import"]).arg(bundle(repo)))
}

#[test]
fn an_exported_checkpoint_is_restored_in_another_clone() {
    let (repo, other) = two_clones();
    let status = repo.status();

    export(&repo, &["A"]).success();
    import(&other).success();
    other.restore("A");

    assert_eq!((other.read("f"), other.read("u")), ("2\n".into(), "u\n".into()));
    assert_eq!(other.status(), status);
    assert_eq!(other.field("A", "id"), repo.field("A", "id"));
    assert_eq!(other.tree("A"), repo.tree("A"));
    other.assert_sound();
}

#[test]
fn an_import_touches_no_file_and_a_second_one_changes_nothing() {
    let (repo, other) = two_clones();
    export(&repo, &["A"]).success();
    let before = crate::support::RepoState::of(&other);

    import(&other).success();
    import(&other).success();

    before.assert_same(&crate::support::RepoState::of(&other));
    assert_eq!(other.checkpoint_refs().len(), 1);
}

#[test]
fn git_itself_accepts_the_file() {
    let (repo, other) = two_clones();
    export(&repo, &["A"]).success();

    let verified = other.try_git(["bundle", "verify", "-q"].map(AsRef::as_ref).into_iter().chain([bundle(&repo).as_os_str()]));

    verified.success();
}

#[test]
fn a_cut_off_file_is_refused_and_nothing_is_written() {
    let (repo, other) = two_clones();
    export(&repo, &["A"]).success();
    let whole = std::fs::read(bundle(&repo)).unwrap();

    for part in [0, 10, whole.len() / 2, whole.len() - 1] {
        std::fs::write(bundle(&repo), &whole[..part]).unwrap();
        import(&other).fails();
        assert_eq!(other.checkpoint_refs(), Vec::<String>::new(), "{part} of {} bytes", whole.len());
    }
}

#[test]
fn a_file_is_written_where_the_person_stands() {
    let (repo, _) = two_clones();
    repo.mkdir("below");

    let mut command = repo.command("git");
    Output::of(command.args(["checkpoint", "export", "-o", "here.bundle", "A"]).current_dir(repo.path("below"))).success();

    assert!(repo.exists("below/here.bundle"));
}
