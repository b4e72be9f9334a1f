//! Checks on the tests themselves.

use std::path::Path;

/// Every file below `folder` that ends in `.rs`.
fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for item in folder.read_dir().unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_test_file_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");

    for path in sources(&root).iter().filter(|path| !path.ends_with("mod.rs") && !path.ends_with("it/main.rs")) {
        let folder = path.parent().unwrap();
        let parent = if folder == root { root.join("main.rs") } else { folder.join("mod.rs") };
        let name = path.file_stem().unwrap().to_string_lossy();
        let listed = std::fs::read_to_string(&parent).unwrap();
        let declared = [format!("mod {name};"), format!("pub mod {name};")];
        assert!(
            listed.lines().any(|line| declared.contains(&line.to_owned())),
            "{} is not listed in {}",
            path.display(),
            parent.display()
        );
    }
}

#[test]
fn every_test_folder_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(root.join("main.rs")).unwrap();

    for item in root.read_dir().unwrap().map(Result::unwrap).filter(|item| item.path().is_dir()) {
        let name = item.file_name().into_string().unwrap();
        assert!(main.contains(&format!("mod {name};")), "the folder {name} is not listed in main.rs");
    }
}
