//! `$Id$` in files with the `ident` attribute, on the way into the worktree.
//!
//! The library beneath writes `$Id:` with the name of the blob but without the space that git puts before the closing dollar,
//! and leaves names alone that were recorded by mistake. A file that differs from git's by a space has another size, and is
//! read anew by every git command.

use gix::bstr::ByteSlice;
use gix::hash::Kind;

use super::GitError;

/// Puts the name of `blob` where it asks for it; none if it does not (`convert.c:ident_to_worktree`).
pub(super) fn expand(blob: &[u8], kind: Kind) -> Result<Option<Vec<u8>>, GitError> {
    let mut places = Places { blob, at: 0 }.peekable();
    if places.peek().is_none() {
        return Ok(None);
    }
    let id =
        gix::objs::compute_hash(kind, gix::objs::Kind::Blob, blob).map_err(|source| GitError::other("hash a blob", source))?;
    let mut out = Vec::with_capacity(blob.len() + 64);
    let mut done = 0;
    for (start, end) in places {
        out.extend_from_slice(&blob[done..start]);
        out.extend_from_slice(format!("$Id: {id} $").as_bytes());
        done = end;
    }
    out.extend_from_slice(&blob[done..]);
    Ok(Some(out))
}

/// The places that ask for the name, as byte ranges: `$Id$`, and `$Id: <one word>$` of a blob that was recorded with a name
/// in it. Words with spaces between them are the mark of another system and stay.
struct Places<'a> {
    blob: &'a [u8],
    at: usize,
}

impl Iterator for Places<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            let start = self.at + self.blob[self.at..].find(b"$Id")?;
            let rest = &self.blob[start + 3..];
            self.at = start + 1;
            match rest.first()? {
                b'$' => {
                    self.at = start + 4;
                    return Some((start, self.at));
                }
                b':' => {
                    let words = &rest[1..];
                    let end = words.find_byte(b'$')?;
                    let words = &words[..end];
                    let is_foreign = words.iter().skip(1).position(|byte| *byte == b' ').is_some_and(|space| space + 2 < end);
                    if !words.contains(&b'\n') && !is_foreign {
                        self.at = start + 4 + end + 1;
                        return Some((start, self.at));
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expanded_is_what_git_expands() {
        let repo = crate::git::testing::TestRepo::new();
        repo.write(".gitattributes", "*.id ident\n");
        let texts: [&[u8]; 13] = [
            b"$Id$",
            b"a $Id$ b $Id$\n",
            b"$Id: old $",
            b"$Id:old$",
            b"$Id: two words $",
            b"$Id: x\n$Id$",
            b"$Id:$",
            b"$Id: $",
            b"$Id:  $",
            b"$Id: a$ $Id: b",
            b"$Idx$ $Id",
            b"$Id: $Id$",
            b"none",
        ];
        for (number, text) in texts.iter().enumerate() {
            let name = format!("{number}.id");
            repo.write("raw", text);
            let blob = repo.git(&["hash-object", "-w", "--no-filters", "raw"]);
            repo.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{name}")]);
            repo.git(&["checkout-index", "-f", &name]);

            let ours = expand(text, Kind::Sha1).unwrap().unwrap_or_else(|| text.to_vec());

            assert_eq!(ours.as_bstr(), repo.read(&name).as_str(), "{:?}", text.as_bstr());
        }
    }
}
