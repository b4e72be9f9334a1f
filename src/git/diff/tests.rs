//! Patches, counts and renames, with `git diff` as the judge.

use super::testing::{Dice, TwoCommits, assert_same_lines, moved_files, odd_files, remove, write};
use super::{Count, Format, Pair, Palette, Renames, Scope, Status, Whitespace};
use crate::ops::testing::git;

/// Every way to show a difference, with the options that make git do the same.
fn formats() -> [(Format, &'static [&'static str]); 7] {
    let plain = Format::default();
    let loose = Format { whitespace: Whitespace::IgnoreAll, ..plain };
    [
        (plain, &[]),
        (Format { context: 0, ..plain }, &["-U0"]),
        (Format { context: 1, ..plain }, &["-U1"]),
        (Format { context: 12, ..plain }, &["-U12"]),
        (loose, &["-w"]),
        (Format { context: 0, ..loose }, &["-w", "-U0"]),
        (Format { palette: Some(Palette::GIT), ..plain }, &["--color=always"]),
    ]
}

fn assert_equal_to_git(commits: &TwoCommits) {
    for (format, options) in formats() {
        assert_same_lines(&commits.patch(&format), &commits.judge(options), &format!("{options:?}"));
        let context = format!("diff.context={}", format.context);
        let options = [&["-c", &context, "diff", "--numstat", "-z", "--no-renames"], options].concat();
        let options: Vec<&str> = options.into_iter().filter(|option| !option.starts_with("-U")).collect();
        let judged = commits.git(&[&options[..], &["old", "new", "--"]].concat());
        let comparison = commits.compare(&[]);
        if comparison.pairs().iter().any(|pair| pair.status() == Status::Renamed) {
            continue;
        }
        let counted: String = comparison.counts(&format).unwrap().iter().map(numstat).collect();
        assert_same_lines(&counted.replace('\0', "\n"), &judged.replace('\0', "\n"), &format!("{options:?}"));
    }
}

fn numstat(file: &super::FileCount) -> String {
    match file.count {
        Count::Lines { added, removed } => format!("{added}\t{removed}\t{}\0", file.pair.newest().path),
        Count::Bytes { .. } => format!("-\t-\t{}\0", file.pair.newest().path),
    }
}

#[test]
fn generated_edits_give_gits_patches_and_counts() {
    // Several files a round: starting git costs more than comparing.
    for seed in 0..6 {
        let mut dice = Dice::new(seed);
        let files: Vec<(Vec<u8>, Vec<u8>)> = (0..50)
            .map(|_| {
                let size = dice.pick(&[0, 1, 3, 10, 40, 150, 400]);
                let edits = dice.pick(&[1, 1, 2, 5, 20]);
                let old = dice.lines(size);
                let new = dice.edited(&old, edits);
                (dice.bytes(&old), dice.bytes(&new))
            })
            .collect();
        let name = |number: usize| format!("f{number:02}");

        assert_equal_to_git(&TwoCommits::new(
            |folder| files.iter().enumerate().for_each(|(number, file)| write(folder, &name(number), &file.0)),
            |folder| files.iter().enumerate().for_each(|(number, file)| write(folder, &name(number), &file.1)),
        ));
    }
}

#[test]
fn large_and_very_different_files_are_cut_as_git_cuts_them() {
    let mut dice = Dice::new(99);
    let old = dice.lines(9000);
    let rewritten = dice.edited(&old, 2500);
    let other = dice.lines(6000);
    let (old, rewritten, other) = (dice.bytes(&old), dice.bytes(&rewritten), dice.bytes(&other));

    let commits = TwoCommits::new(
        |folder| {
            write(folder, "edited", &old);
            write(folder, "replaced", &old);
        },
        |folder| {
            write(folder, "edited", &rewritten);
            write(folder, "replaced", &other);
        },
    );

    assert_equal_to_git(&commits);
}

#[test]
fn line_ends_and_missing_ones_are_differences() {
    let table: [(&str, &str); 8] = [
        ("a\nb\n", "a\nb"),
        ("a\nb", "a\nb\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("", "a"),
        ("a", ""),
        ("a\n", "a\n\n\n"),
        ("\n", "\n\n"),
        ("x\ny", "z\ny"),
    ];
    for (old, new) in table {
        assert_equal_to_git(&TwoCommits::of_file(old.as_bytes(), new.as_bytes()));
    }
}

#[test]
fn the_function_of_a_hunk_ends_where_a_character_would_be_cut() {
    let long = format!("fn {}é() {{\n", "x".repeat(76));
    let body = |end: &str| format!("{long}{}{end}\n", "    line\n".repeat(9));
    assert_equal_to_git(&TwoCommits::of_file(body("a").as_bytes(), body("b").as_bytes()));

    let broken = |end: &str| [b"fn caf\xe9 x() {\n", "    line\n".repeat(9).as_bytes(), end.as_bytes()].concat();
    assert_equal_to_git(&TwoCommits::of_file(&broken("a\n"), &broken("b\n")));
}

#[test]
fn types_modes_names_and_binaries_are_shown_as_git_shows_them() {
    assert_equal_to_git(&odd_files());
}

#[test]
fn a_submodule_is_the_commit_it_stands_at() {
    let commits = TwoCommits::new(|_| (), |_| ());
    let path = commits.folder.path();
    for (tag, commit) in
        [("old", "1234567890123456789012345678901234567890"), ("new", "abcdefabcdefabcdefabcdefabcdefabcdefabcd")]
    {
        git(path, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
        git(path, &["commit", "-q", "-m", tag]);
        git(path, &["tag", "-f", tag]);
    }

    assert_equal_to_git(&commits);
    git(path, &["update-index", "--force-remove", "sub"]);
    write(path, "sub", "a file\n");
    git(path, &["add", "sub"]);
    git(path, &["commit", "-q", "-m", "file"]);
    git(path, &["tag", "-f", "new"]);
    assert_equal_to_git(&commits);
    // The slash asks for the submodule alone.
    assert_eq!(commits.compare(&["sub/"]).pairs()[0].status(), Status::Deleted);
    assert_eq!(commits.git(&["diff", "--name-status", "old", "new", "--", "sub/"]), "D\tsub\n");
}

#[test]
fn attributes_decide_what_is_text() {
    let commits = TwoCommits::new(
        |folder| {
            let attributes = "*.dat -diff\n*.txt diff\n*.pic binary\n*.yes diff=yes\n*.no diff=no\n*.cc diff=cpp\n";
            write(folder, ".gitattributes", attributes);
            git(folder, &["config", "diff.yes.binary", "true"]);
            git(folder, &["config", "diff.no.binary", "false"]);
            for name in ["a.dat", "b.txt", "c.pic", "d.yes", "e.no"] {
                write(folder, name, b"one\0\ntwo\n");
            }
        },
        |folder| {
            for name in ["a.dat", "b.txt", "c.pic", "d.yes", "e.no"] {
                write(folder, name, b"one\0\nzwei\n");
            }
            write(folder, "sub/f.dat", "text\n");
        },
    );

    assert_equal_to_git(&commits);
}

#[test]
fn attributes_that_are_not_checked_out_do_not_count() {
    let commits = TwoCommits::new(
        |folder| {
            write(folder, "sub/.gitattributes", "* -diff\n");
            write(folder, "sub/file", "one\n");
        },
        |folder| write(folder, "sub/file", "two\n"),
    );
    assert!(commits.patch(&Format::default()).contains("Binary files"));

    remove(commits.folder.path(), "sub/.gitattributes");

    assert_equal_to_git(&commits);
    assert!(!commits.patch(&Format::default()).contains("Binary files"));
}

#[test]
fn files_with_function_rules_of_their_own_are_shown_by_git() {
    let source = |end: &str| format!("impl Thing {{\n    fn inner() {{\n{}{end}\n    }}\n}}\n", "        x;\n".repeat(8));
    let commits = TwoCommits::new(
        |folder| {
            write(folder, ".gitattributes", "*.rs diff=rust\n");
            write(folder, "a.rs", source("a"));
        },
        |folder| write(folder, "a.rs", source("b")),
    );
    // Configuration of the person's own must not show.
    git(commits.folder.path(), &["config", "diff.noprefix", "true"]);
    git(commits.folder.path(), &["config", "diff.context", "1"]);

    let patch = commits.patch(&Format::default());

    assert!(patch.contains("@@ -8,6 +8,6 @@ fn inner() {\n"), "{patch}");
    assert_eq!(patch, commits.judge(&["--default-prefix", "-U3"]));
}

fn renames(pairs: &[Pair]) -> String {
    let renamed = pairs.iter().filter(|pair| pair.status() == Status::Renamed);
    renamed.map(|pair| format!("R{:03}\0{}\0{}\0", pair.similarity(), pair.oldest().path, pair.newest().path)).collect()
}

#[test]
fn generated_renames_are_the_ones_git_finds() {
    for seed in 0..12 {
        let mut dice = Dice::new(seed);
        let commits = moved_files(&mut dice);

        let judged = commits.judge(&["--name-status", "-z", "--diff-filter=R"]);
        assert_eq!(renames(commits.compare(&[]).pairs()), judged, "seed {seed}");
        assert_same_lines(&commits.patch(&Format::default()), &commits.judge(&[]), &format!("seed {seed}"));
    }
}

#[test]
fn renames_are_not_looked_for_on_demand() {
    let commits = moved_files(&mut Dice::new(1));
    let scope = Scope { renames: Renames::Ignore, ..Scope::default() };

    let pairs = commits.compare_in(scope).pairs().len();

    assert_eq!(pairs, commits.judge(&["--name-only", "--no-renames"]).lines().count());
    assert!(pairs > commits.compare(&[]).pairs().len());
}

#[test]
fn pathspecs_limit_the_difference_as_in_git() {
    let names = ["a.txt", "b.rs", "src/a.txt", "src/b.rs", "src/deep/c.rs", "srcs/d.rs", "[x].rs", "A.TXT"];
    let commits = TwoCommits::new(
        |folder| write(folder, ".gitattributes", "*.txt prose\n"),
        |folder| names.iter().for_each(|name| write(folder, name, "new\n")),
    );
    let table: [&[&str]; 17] = [
        &["src"],
        &["src/"],
        &["a.txt/"],
        &["*.rs"],
        &["src/*.rs"],
        &[":(glob)src/*.rs"],
        &[":(glob)**/c.rs"],
        &[":(literal)[x].rs"],
        &["[x].rs"],
        &[":(icase)a.txt"],
        &[":!src"],
        &["src", ":(exclude)*.txt"],
        &[":(attr:prose)"],
        &["none", "b.rs"],
        &["."],
        &["./src/.."],
        &[":!."],
    ];
    for pathspecs in table {
        let mut options = vec!["diff", "--name-only", "-z", "old", "new", "--"];
        options.extend(pathspecs);
        let judged = commits.git(&options);
        let found: String = commits.compare(pathspecs).pairs().iter().map(|pair| format!("{}\0", pair.newest().path)).collect();
        assert_eq!(found, judged, "{pathspecs:?}");
    }
}

#[test]
fn many_directories_are_compared_on_all_cores() {
    let commits = TwoCommits::new(
        |folder| (0..300).for_each(|n| write(folder, &format!("{:02}/{n}/file", n % 40), format!("{n}"))),
        |folder| (0..300).filter(|n| n % 3 > 0).for_each(|n| write(folder, &format!("{:02}/{n}/file", n % 40), "x")),
    );

    let found: String = commits.compare(&[]).pairs().iter().map(|pair| format!("{}\0", pair.newest().path)).collect();

    assert_eq!(found, commits.judge(&["--name-only", "-z"]));
}

#[test]
fn a_missing_blob_is_told() {
    let commits = TwoCommits::of_file(b"one\n", b"two\n");
    let id = git(commits.folder.path(), &["rev-parse", "new:file"]);
    remove(commits.folder.path(), &format!(".git/objects/{}/{}", &id[..2], &id[2..]));

    let error = commits.compare(&[]).stat().unwrap_err();

    assert_eq!(error.to_string(), format!("object {id} is missing"));
}
