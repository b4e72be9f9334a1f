//! `install.sh`, from an unpacked release made of the program under test.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Output, TestEnv, tools};

/// A folder like that of an unpacked release, in an environment of its own.
struct Release {
    env: TestEnv,
    folder: PathBuf,
}

impl Release {
    fn unpacked() -> Release {
        Release::unpacked_in(TestEnv::new())
    }

    fn unpacked_in(env: TestEnv) -> Release {
        let folder = env.shelf().join("git-checkpoint-release");
        let release = Release { env, folder };
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        for page in pages() {
            release.put(&project.join("man").join(&page), &format!("man/{page}"));
        }
        for file in
            ["install.sh", "completions/git-checkpoint.bash", "completions/_git-checkpoint", "completions/git-checkpoint.fish"]
        {
            release.put(&project.join(file), file);
        }
        // Not the program itself: a debug build is too large to be copied and hashed for every test.
        let stub = format!("#!/bin/sh\nexec '{}' \"$@\"\n", release.env.program().display());
        std::fs::write(release.folder.join("git-checkpoint"), stub).unwrap();
        std::fs::set_permissions(release.folder.join("git-checkpoint"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let sums = "sha256sum git-checkpoint install.sh man/* completions/*";
        let sums = Output::of(release.command("sh").args(["-c", sums])).success().stdout;
        std::fs::write(release.folder.join("SHA256SUMS"), sums).unwrap();
        release
    }

    fn put(&self, from: &Path, to: &str) {
        let to = self.folder.join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }

    /// A command in the folder; the program under test is not on its path.
    fn command(&self, program: &str) -> Command {
        let mut command = self.env.command(program);
        command.current_dir(&self.folder).env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    fn install(&self, args: &[&str]) -> Output {
        Output::of(self.command("./install.sh").args(args))
    }

    /// Runs `program` as a person would after the installation below `prefix`.
    fn with_path(&self, prefix: &Path, program: &str) -> Command {
        let mut command = self.command(program);
        let inherited = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}/bin:{inherited}", prefix.display()));
        command
    }

    fn prefix(&self) -> PathBuf {
        self.env.root().join("an prefix\u{e9}")
    }
}

/// The names of all manual pages.
fn pages() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man").read_dir().unwrap();
    let mut names: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".1"));
    names.sort();
    names
}

/// Every file below a folder, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let found = Command::new("find").arg(folder).args(["-type", "f", "-printf", "%P\\n"]).output().unwrap().stdout;
    let mut lines: Vec<String> = String::from_utf8(found).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn everything_goes_below_the_prefix_and_comes_away_again() {
    let release = Release::unpacked();
    let prefix = release.prefix();
    let to = prefix.to_str().unwrap();
    let home = files(&release.env.home());

    let said = release.install(&["--prefix", to]).success();

    let others = [
        "bin/git-checkpoint",
        "share/bash-completion/completions/git-checkpoint",
        "share/fish/vendor_conf.d/git-checkpoint.fish",
        "share/git-checkpoint/installed-files",
        "share/zsh/site-functions/_git-checkpoint",
    ];
    let mut expected: Vec<String> = others.map(str::to_owned).into();
    expected.extend(pages().iter().map(|page| format!("share/man/man1/{page}")));
    expected.sort();
    assert_eq!(files(&prefix), expected);
    assert!(said.talk().contains("is not on PATH"), "{said}");
    assert_eq!(files(&release.env.home()), home, "no profile is edited");
    release.install(&["--prefix", to, "--uninstall"]).success();
    assert_eq!(files(&prefix), Vec::<String>::new());
    release.install(&["--prefix", to, "--uninstall"]).fails().says("nothing is installed");
}

#[test]
fn git_finds_the_program_and_its_manual_page() {
    if !tools::has("man", &["--version"]) {
        return;
    }
    let release = Release::unpacked();
    let prefix = release.prefix();
    release.install(&["--prefix", prefix.to_str().unwrap()]).success();

    let version = Output::of(release.with_path(&prefix, "git").args(["checkpoint", "--version"])).success();
    let page =
        Output::of(release.with_path(&prefix, "git").args(["checkpoint", "--help"]).env("MANPAGER", "cat").env("MANWIDTH", "90"));

    assert!(version.text().starts_with("git-checkpoint "), "{version}");
    let page = page.success().text();
    assert!(page.contains("save the exact state of the worktree") && page.contains("EXIT STATUS"), "{page}");
    let page =
        Output::of(release.with_path(&prefix, "man").arg("git-checkpoint-restore").env("MANPAGER", "cat").env("MANWIDTH", "90"));
    assert!(page.success().text().contains("--keep-edits"));
}

#[test]
fn parts_can_be_left_out_and_leaving_them_out_later_removes_them() {
    let release = Release::unpacked();
    let prefix = release.prefix();
    let to = prefix.to_str().unwrap();
    release.install(&["--prefix", to]).success();

    release.install(&["--prefix", to, "--no-man", "--no-completions"]).success().says("");

    assert_eq!(files(&prefix), ["bin/git-checkpoint", "share/git-checkpoint/installed-files"]);
}

#[test]
fn without_a_prefix_a_folder_on_the_path_is_chosen() {
    // For root it would be /usr/local, which a test must not write to.
    let env = TestEnv::new();
    env.give_away();
    let release = Release::unpacked_in(env);
    let bin = release.env.home().join(".local/bin");
    std::fs::create_dir_all(&bin).unwrap();
    release.env.give_away();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());

    Output::of(release.command("./install.sh").env("PATH", &path)).success();

    assert!(bin.join("git-checkpoint").exists());
    assert!(release.env.home().join(".local/share/man/man1/git-checkpoint.1").exists());
    Output::of(release.command("./install.sh").env("PATH", &path).arg("--uninstall")).success();
    assert!(!bin.join("git-checkpoint").exists());
}

#[test]
fn a_damaged_release_is_refused_and_nothing_is_installed() {
    for damaged in ["git-checkpoint", "man/git-checkpoint.1", "completions/_git-checkpoint"] {
        let release = Release::unpacked();
        let mut bytes = std::fs::read(release.folder.join(damaged)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(release.folder.join(damaged), bytes).unwrap();
        let prefix = release.prefix();

        release.install(&["--prefix", prefix.to_str().unwrap()]).fails().says("SHA256SUMS");

        assert!(!prefix.exists());
    }
}

#[test]
fn a_list_of_checksums_that_leaves_the_program_out_is_refused() {
    let release = Release::unpacked();
    let sums = "sed -i '/git-checkpoint$/d' SHA256SUMS";
    Output::of(release.command("sh").args(["-c", sums])).success();

    release.install(&["--prefix", release.prefix().to_str().unwrap()]).fails().says("does not list git-checkpoint");
}

#[test]
fn a_different_program_of_that_name_is_not_overwritten() {
    let release = Release::unpacked();
    let prefix = release.prefix();
    let to = prefix.to_str().unwrap();
    let other = prefix.join("bin/git-checkpoint");
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    std::fs::write(&other, "#!/bin/sh\necho something else\n").unwrap();
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();

    release.install(&["--prefix", to]).fails().says("--force");
    assert_eq!(std::fs::read(&other).unwrap(), b"#!/bin/sh\necho something else\n");
    release.install(&["--prefix", to, "--force"]).success();

    let said = release.install(&["--prefix", to]).success();
    assert!(said.text().contains("replacing git-checkpoint"), "{said}");
}

#[test]
fn trying_it_saves_compares_restores_and_undoes() {
    let release = Release::unpacked();

    let said = release.install(&["--prefix", release.prefix().to_str().unwrap(), "--try"]).success();

    for command in ["save -m", "diff --stat", "list", "restore --yes @", "undo --yes"] {
        assert!(said.text().contains(command), "{said}");
    }
    assert!(said.text().ends_with("in a scratch repository"), "{said}");
    assert!(release.env.root().join("tmp").read_dir().unwrap().next().is_none(), "the scratch repository is left behind");
}

#[test]
fn unknown_options_are_refused() {
    let release = Release::unpacked();

    release.install(&["--prefix"]).fails();
    release.install(&["--no-such-option"]).exits(2).says("usage:");
    release.install(&["--help"]).success();
}

#[test]
fn the_shell_scripts_are_free_of_mistakes_that_shellcheck_finds() {
    if !tools::has("shellcheck", &["--version"]) {
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (dialect, script) in
        [("sh", "install.sh"), ("bash", ".ci/run"), ("bash", "completions/git-checkpoint.bash"), ("bash", "benches/paired.sh")]
    {
        Output::of(Command::new("shellcheck").current_dir(project).args(["--shell", dialect, script])).success();
    }
}
