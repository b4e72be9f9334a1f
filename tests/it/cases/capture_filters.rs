//! Filters, line endings and encodings: what is recorded is what git would record, and comes back as it was.

use crate::support::{RepoState, TestRepo};

/// A repository whose `*.sec` files pass a filter, with `a.sec` committed.
fn crypt() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.sec filter=crypt\n");
    repo.config("filter.crypt.clean", "base64");
    repo.config("filter.crypt.smudge", "base64 -d");
    repo.config("filter.crypt.required", "true");
    repo.write("a.sec", "secret\n");
    repo.commit("filtered");
    repo
}

#[test]
fn a_filtered_file_is_recorded_clean_and_restored_smudged() {
    let repo = crypt();
    repo.write("new.sec", "hidden\n");

    repo.save("A");
    repo.write("new.sec", "x\n");
    repo.remove("a.sec");
    repo.restore("A");

    assert_eq!(repo.blob("A", "new.sec"), b"aGlkZGVuCg==\n");
    assert_eq!(repo.read("new.sec"), "hidden\n");
    assert_eq!(repo.read("a.sec"), "secret\n");
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_required_clean_filter_that_fails_stops_the_save_and_records_nothing() {
    for broken in ["false", "sh -c 'exit 3'", "no-such-program-anywhere", "sh -c 'cat; exit 1'"] {
        let repo = crypt();
        repo.config("filter.crypt.clean", broken);
        repo.write("a.sec", "edited\n");
        repo.write("other", "also changed\n");

        repo.try_save("A").fails().says("a.sec");

        assert_eq!(repo.checkpoint_refs(), Vec::<String>::new(), "{broken}");
        assert_eq!(repo.checkpoint(["list", "--format=%(number)"]).success().text(), "", "{broken}");
        repo.config("filter.crypt.clean", "base64");
        repo.save("A");
        assert_eq!(repo.blob("A", "a.sec"), b"ZWRpdGVkCg==\n");
    }
}

#[test]
fn a_filter_that_fails_but_is_not_required_leaves_the_content_as_it_is() {
    let repo = crypt();
    repo.config("filter.crypt.required", "false");
    repo.config("filter.crypt.clean", "false");
    repo.write("a.sec", "edited\n");

    repo.save("A");

    assert_eq!(repo.blob("A", "a.sec"), b"edited\n");
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_required_smudge_filter_that_fails_is_found_before_the_first_change() {
    for broken in ["false", "sh -c 'head -c 3; exit 1'", "no-such-program-anywhere"] {
        let repo = crypt();
        repo.save("A");
        repo.write("a.sec", "edited\n");
        repo.write("f", "edited\n");
        repo.write("later", "x\n");
        repo.config("filter.crypt.smudge", broken);
        let before = RepoState::of(&repo);

        repo.try_restore("A").fails();

        before.assert_same(&RepoState::of(&repo));
        assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["filter-failed"]);
    }
}

#[test]
fn a_mixed_line_ending_file_that_did_not_change_keeps_its_bytes() {
    for (key, value) in [("core.autocrlf", "input"), ("core.autocrlf", "true"), ("core.eol", "crlf"), ("core.safecrlf", "true")] {
        let repo = TestRepo::new();
        repo.config(key, value);
        repo.write("mixed", "a\r\nb\n");
        repo.write(".gitattributes", "*.t text=auto\n");
        repo.write("mixed.t", "a\r\nb\nc\r\n");
        let times = [repo.mtime("mixed"), repo.mtime("mixed.t")];

        repo.save("A");
        repo.write("f", "2\n");
        repo.restore("A");

        assert_eq!(repo.read("f").trim_end(), "1");
        assert_eq!((repo.read("mixed"), repo.read("mixed.t")), ("a\r\nb\n".into(), "a\r\nb\nc\r\n".into()), "{key}={value}");
        assert_eq!([repo.mtime("mixed"), repo.mtime("mixed.t")], times);
    }
}

/// Git goes on believing the index where rules changed after a file was added, and so does a capture: the blob is not what the
/// rules of today would make of the file.
#[test]
fn what_older_rules_took_out_of_a_file_comes_back_with_undo() {
    let cases: [(&str, &[u8], &[&str]); 3] = [
        ("*.x filter=strip\n", b"code\nOUTPUT precious\n", &[]),
        ("* text=auto\n", b"a\r\nb\r\n", &[]),
        ("", b"a\r\nb\r\n", &["core.autocrlf", "input"]),
    ];
    for (attributes, content, setting) in cases {
        for way in ["edit", "delete"] {
            let repo = TestRepo::new();
            repo.config("filter.strip.clean", "grep -v OUTPUT");
            repo.config("filter.strip.smudge", "cat");
            if way == "edit" {
                repo.write("f.x", "old\n");
            }
            repo.commit("old");
            repo.save("A");
            if let [key, value] = setting {
                repo.config(key, value);
            }
            repo.write(".gitattributes", attributes);
            repo.write("f.x", content);
            // The entry must not be as young as the index, or git looks into the file.
            std::thread::sleep(std::time::Duration::from_millis(1100));
            repo.commit("with rules");
            std::thread::sleep(std::time::Duration::from_millis(1100));
            repo.run(["update-index", "-q", "--refresh"]);
            repo.remove(".gitattributes");
            if let [key, _] = setting {
                repo.run(["config", "--unset", key]);
            }

            repo.restore("A");
            assert_eq!(repo.exists("f.x"), way == "edit");
            repo.checkpoint(["undo", "--quiet", "--yes"]).success();

            assert_eq!(repo.bytes("f.x"), content, "{attributes:?} {setting:?} {way}");
        }
    }
}

#[test]
fn every_setting_of_line_endings_records_what_git_records() {
    for autocrlf in ["true", "input", "false"] {
        for eol in ["lf", "crlf", "native"] {
            for safe in ["true", "warn", "false"] {
                let repo = crate::support::scenes::line_endings();
                repo.config("core.autocrlf", autocrlf);
                repo.config("core.eol", eol);
                repo.write("plain", "no\r\nattribute\r\n");
                repo.write("plain-mixed", "no\r\nattribute\n");
                repo.config("core.safecrlf", safe);
                repo.save("A");

                repo.config("core.safecrlf", "false");
                repo.assert_tree_is_gits("A");
            }
        }
    }
}

#[test]
fn safe_crlf_never_stops_a_save() {
    let repo = TestRepo::new();
    repo.config("core.autocrlf", "true");
    repo.config("core.safecrlf", "true");
    repo.write("mixed", "a\r\nb\n");
    repo.try_git(["add", "mixed"]).fails().says("LF would be replaced by CRLF");

    repo.save("A");

    assert_eq!(repo.blob("A", "mixed"), b"a\nb\n");
}

#[test]
fn text_in_another_encoding_comes_back_in_that_encoding() {
    let repo = crate::support::scenes::encodings();
    let paths: Vec<_> = (0..crate::support::scenes::ENCODED.len()).map(|number| format!("new.e{number}")).collect();
    let before: Vec<_> = paths.iter().map(|path| repo.bytes(path)).collect();

    repo.save("A");
    paths.iter().for_each(|path| repo.remove(path));
    repo.restore("A");

    assert_eq!(repo.blob("A", "new.e0"), "\u{e4}a\n".as_bytes());
    assert_eq!(paths.iter().map(|path| repo.bytes(path)).collect::<Vec<_>>(), before);
}

#[test]
fn a_file_that_git_cannot_encode_is_skipped_and_named() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.u16 working-tree-encoding=UTF-16LE\n*.no working-tree-encoding=no-such-encoding\n");
    repo.write("bad.u16", b"\xff\xfea\0");
    repo.write("f", "2\n");
    repo.try_git(["add", "bad.u16"]).fails().says("BOM is prohibited");

    repo.save("A");
    repo.write("f", "3\n");
    repo.restore("A");

    let document = repo.checkpoint(["show", "--json", "A"]).success().json();
    assert_eq!(document["checkpoint"]["skipped"][0]["path"], "bad.u16");
    assert_eq!(repo.blob("A", "f"), b"2\n");
    assert_eq!(repo.bytes("bad.u16"), b"\xff\xfea\0");
}

/// A long-running filter: the packet protocol of gitattributes(5), upper case in the repository, lower case outside.
const LONG_RUNNING: &str = include_str!("long_running_filter.py");

fn long_running(repo: &TestRepo) {
    let script = repo.env().home().join("filter.py");
    std::fs::write(&script, LONG_RUNNING).unwrap();
    repo.config("filter.upper.process", &format!("python3 {}", script.display()));
    repo.config("filter.upper.required", "true");
    repo.write(".gitattributes", "*.up filter=upper\n");
}

#[test]
fn a_long_running_filter_serves_many_files_in_both_directions() {
    if !crate::support::tools::has("python3", &["--version"]) {
        return;
    }
    let repo = TestRepo::new();
    long_running(&repo);
    for number in 0..50 {
        repo.write(format!("{number}.up"), format!("text {number}\n"));
    }

    repo.save("A");
    for number in 0..50 {
        repo.write(format!("{number}.up"), "changed\n");
    }
    repo.restore("A");

    assert_eq!(repo.blob("A", "7.up"), b"TEXT 7\n");
    assert!((0..50).all(|number| repo.read(format!("{number}.up")) == format!("text {number}\n")));
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_long_running_filter_that_reports_an_error_stops_the_save() {
    if !crate::support::tools::has("python3", &["--version"]) {
        return;
    }
    let repo = TestRepo::new();
    long_running(&repo);
    repo.write("good.up", "x\n");
    repo.write("refuse.up", "x\n");

    repo.try_save("A").fails().says("refuse.up");

    assert_eq!(repo.checkpoint_refs(), Vec::<String>::new());
}
