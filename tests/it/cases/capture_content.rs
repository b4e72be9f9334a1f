//! Which bytes a capture records.

use std::time::Duration;

use crate::support::TestRepo;

#[test]
fn an_edit_to_a_tracked_file_that_an_ignore_rule_matches_is_captured_and_restored() {
    let repo = TestRepo::new();
    repo.write("config.yaml", "c\n");
    repo.commit("tracked");
    repo.write(".gitignore", "config.yaml\n");
    repo.commit("then ignored");
    repo.append("config.yaml", "edit\n");

    repo.save("A");
    repo.write("config.yaml", "z\n");
    repo.restore("A");

    assert_eq!(repo.blob("A", "config.yaml"), b"c\nedit\n");
    assert_eq!(repo.read("config.yaml"), "c\nedit\n");
}

#[test]
fn a_tracked_file_that_was_away_during_a_save_is_captured_again_though_a_rule_matches_it() {
    let repo = TestRepo::new();
    repo.write("build/out", "o\n");
    repo.write("config.yaml", "c\n");
    repo.commit("tracked");
    repo.write(".gitignore", "config.yaml\nbuild/\n");
    repo.commit("then ignored");
    repo.remove("config.yaml");
    repo.remove("build");
    repo.save("away");
    repo.write("config.yaml", "back\n");
    repo.write("build/out", "back\n");

    repo.save("back");

    assert!(repo.holds("back", "config.yaml") && repo.holds("back", "build/out"));
    repo.assert_tree_is_gits("back");
}

#[test]
fn a_file_added_by_force_is_captured_while_its_ignored_neighbours_are_not() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "*.env\n");
    repo.write("forced.env", "1\n");
    repo.write("other.env", "1\n");
    repo.run(["add", "-f", "forced.env"]);
    repo.write("forced.env", "2\n");

    repo.save("A");

    assert_eq!(repo.blob("A", "forced.env"), b"2\n");
    assert!(!repo.holds("A", "other.env"));
    repo.assert_tree_is_gits("A");
}

#[test]
fn exclude_files_of_every_level_are_honoured_and_ignored_files_stay() {
    let repo = crate::support::scenes::ignores();
    repo.env().global_config("core.excludesFile", &repo.env().home().join("excludes").to_string_lossy());
    std::fs::write(repo.env().home().join("excludes"), "by-setting\n").unwrap();
    repo.write("by-setting", "x\n");

    repo.save("A");
    repo.restore("A");

    for ignored in
        ["by-setting", "by-repository", "x.log", "top", "a/b/l.bin", "a/deep/x.tmp", "folder/inside", "#hash", " trailing"]
    {
        assert!(!repo.holds("A", ignored), "{ignored} was captured");
        assert!(repo.exists(ignored), "{ignored} is gone");
    }
    for kept in ["by-user", "kept.log", "a/top", "a/b/c/l.bin", "a/b/x.log", " trailing "] {
        assert!(repo.holds("A", kept), "{kept} was not captured");
    }
    repo.assert_tree_is_gits("A");
}

#[test]
fn an_edit_of_the_same_size_in_the_second_of_the_last_index_write_is_captured() {
    let repo = TestRepo::new();
    repo.write("r", "aaaa\n");
    repo.commit("racy");
    repo.write("r", "bbbb\n");
    std::thread::sleep(Duration::from_millis(1100));

    repo.save("A");

    assert_eq!(repo.blob("A", "r"), b"bbbb\n");
}

#[test]
fn edits_of_the_same_size_with_the_old_time_put_back_are_captured_every_time() {
    let repo = TestRepo::new();
    repo.write("tracked", "0000\n");
    repo.commit("tracked");
    repo.write("untracked", "0000\n");
    let time = repo.mtime("tracked");
    repo.set_mtime("untracked", time);

    for round in 1..20 {
        let content = format!("{round:04}\n");
        for path in ["tracked", "untracked"] {
            repo.write(path, &content);
            repo.set_mtime(path, time);
        }
        repo.save("A");
        for path in ["tracked", "untracked"] {
            assert_eq!(repo.blob("A", path), content.as_bytes(), "{path} in round {round}");
        }
    }
}

#[test]
fn a_file_replaced_by_another_of_the_same_size_and_time_is_captured() {
    let repo = TestRepo::new();
    repo.write("a", "aaaa\n");
    repo.save("before");
    repo.write("b", "bbbb\n");
    repo.set_mtime("b", repo.mtime("a"));

    std::fs::rename(repo.path("b"), repo.path("a")).unwrap();
    repo.save("after");

    assert_eq!(repo.blob("after", "a"), b"bbbb\n");
    repo.assert_tree_is_gits("after");
}

#[test]
fn a_folder_moved_away_and_another_moved_into_its_place_is_captured() {
    let repo = TestRepo::new();
    repo.write("one/x", "1\n");
    repo.write("two/x", "2\n");
    repo.save("before");

    for (from, to) in [("one", "three"), ("two", "one"), ("three", "two")] {
        std::fs::rename(repo.path(from), repo.path(to)).unwrap();
    }
    repo.save("after");

    assert_eq!(repo.blob("after", "one/x"), b"2\n");
    repo.assert_tree_is_gits("after");
}

#[test]
fn an_ignore_rule_that_changed_since_the_last_capture_counts() {
    let repo = TestRepo::new();
    repo.write("deep/er/data.tmp", "x\n");
    repo.save("without rule");
    repo.write("deep/.gitignore", "*.tmp\n");
    repo.save("with rule");
    repo.write("deep/.gitignore", "\n");
    repo.save("rule dropped");

    let held = ["without rule", "with rule", "rule dropped"].map(|name| repo.holds(name, "deep/er/data.tmp"));

    assert_eq!(held, [true, false, true]);
}

#[test]
fn a_rule_that_was_written_and_staged_since_the_last_capture_counts() {
    let repo = TestRepo::new();
    repo.write("deep/data.tmp", "x\n");
    repo.write("deep/a.txt", "one\r\n");
    repo.save("without rules");
    repo.write("deep/.gitignore", "*.tmp\n");
    repo.write("deep/.gitattributes", "*.txt text\n");
    repo.run(["add", "deep/.gitignore", "deep/.gitattributes"]);
    // Settles the index: its stat data then prove what stands in the files.
    std::thread::sleep(Duration::from_millis(1100));
    repo.run(["update-index", "-q", "--refresh"]);
    repo.run(["update-index", "--force-write-index"]);

    repo.save("with rules");

    assert!(!repo.holds("with rules", "deep/data.tmp"));
    assert_eq!(repo.blob("with rules", "deep/a.txt"), b"one\n");
}

#[test]
fn the_attributes_of_a_file_that_was_deleted_do_not_count() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.txt text\n");
    repo.commit("attributes");
    repo.remove(".gitattributes");
    repo.write("a.txt", "one\r\n");

    repo.save("A");
    repo.remove("a.txt");
    repo.restore("A");

    assert_eq!(repo.blob("A", "a.txt"), b"one\r\n");
    assert_eq!(repo.read("a.txt"), "one\r\n");
    repo.assert_tree_is_gits("A");
}

#[test]
fn where_modes_do_not_count_the_mode_of_the_index_does() {
    let repo = TestRepo::new();
    repo.config("core.fileMode", "false");
    repo.write("same", "1\n");
    repo.commit("same");
    repo.save("before");
    repo.run(["update-index", "--chmod=+x", "f", "same"]);
    repo.write("f", "edited\n");
    repo.chmod("same", 0o644);

    repo.save("A");

    assert_eq!((repo.mode("A", "f"), repo.mode("A", "same")), ("100755".into(), "100755".into()));
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_file_that_was_a_link_is_a_file_again_where_links_are_switched_off() {
    let repo = TestRepo::new();
    repo.config("core.symlinks", "false");
    repo.remove("f");
    repo.symlink("elsewhere", "f");
    repo.save("link");
    repo.remove("f");
    repo.write("f", "a file\n");

    repo.save("file");

    assert_eq!((repo.mode("link", "f"), repo.mode("file", "f")), ("120000".into(), "100644".into()));
    repo.assert_tree_is_gits("file");
}

#[test]
fn an_attribute_that_changed_since_the_last_capture_counts() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\r\n");
    repo.save("raw");
    repo.write(".gitattributes", "*.txt text\n");
    repo.save("text");

    assert_eq!(repo.blob("raw", "a.txt"), b"one\r\n");
    assert_eq!(repo.blob("text", "a.txt"), b"one\n");
    repo.assert_tree_is_gits("text");
}

#[test]
fn a_file_beyond_every_buffer_is_captured_and_restored_byte_for_byte() {
    let repo = TestRepo::new();
    let mut random = crate::support::Random::new(7);
    let content: Vec<u8> = (0..9 * 1024 * 1024 / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    repo.write("big", &content);

    repo.save("A");
    repo.write("big", "small\n");
    repo.restore("A");

    assert!(repo.bytes("big") == content);
    repo.assert_sound();
}

#[test]
fn the_case_of_names_never_drops_a_file() {
    let repo = TestRepo::new();
    repo.config("core.ignoreCase", "true");
    for name in ["readme", "README", "Readme", "dir/x", "DIR/x"] {
        repo.write(name, name);
    }

    repo.save("A");

    for name in ["readme", "README", "Readme", "dir/x", "DIR/x"] {
        assert_eq!(repo.blob("A", name), name.as_bytes());
    }
}
