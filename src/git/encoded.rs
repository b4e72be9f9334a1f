//! Files with a `working-tree-encoding`.
//!
//! The library beneath reads few encodings and writes UTF-16 as UTF-8. So their conversion is taken apart: it does line ends,
//! `$Id$` and filter drivers, each asked for by an attribute line of its own, and [`Encoding`] does what lies between.

use std::path::PathBuf;

use gix::attrs::StateRef;
use gix::attrs::search::{MetadataCollection, Outcome};
use gix::bstr::{BStr, BString, ByteSlice};
use gix::filter::plumbing::Pipeline;

use super::GitError;
use super::encoding::Encoding;
use super::filter::{cleaned, filter_error, smudged};

/// The attribute that names an encoding.
pub(super) const ENCODING: &str = "working-tree-encoding";

/// The attributes that decide about the conversion of such a file.
pub(super) const NAMES: [&str; 6] = [ENCODING, "filter", "ident", "text", "crlf", "eol"];

/// How a file is converted.
pub(super) struct Rules {
    encoding: Encoding,
    /// The attribute line for the filter driver, if there is one.
    driver: Option<String>,
    /// The attribute line for everything else.
    text: String,
    /// `eol=crlf`, which the library beneath does not see in a line of our own.
    crlf: bool,
}

impl Rules {
    /// Reads the rules from what matched of [`NAMES`]; none if no encoding is named.
    pub(super) fn read(path: &BStr, found: &Outcome) -> Result<Option<Rules>, GitError> {
        let mut rules = Rules { encoding: Encoding::Latin1, driver: None, text: "*".to_owned(), crlf: false };
        let mut is_text = true;
        let mut encoding = None;
        for assignment in found.iter_selected().map(|found| found.assignment) {
            let name = assignment.name.as_str();
            match assignment.state {
                StateRef::Value(value) if name == ENCODING => {
                    let named = Encoding::by_name(value.as_bstr());
                    encoding = named.map_err(|error| filter_error(path, format!("{error}: {}", value.as_bstr())))?;
                }
                StateRef::Value(value) if name == "filter" => rules.driver = Some(format!("* filter={}", value.as_bstr())),
                _ if name == ENCODING || name == "filter" => {}
                StateRef::Value(value) => {
                    rules.crlf |= name == "eol" && value.as_bstr() == "crlf";
                    rules.text += &format!(" {name}={}", value.as_bstr());
                }
                StateRef::Set => rules.text += &format!(" {name}"),
                StateRef::Unset => {
                    is_text &= name != "text" && name != "crlf";
                    rules.text += &format!(" -{name}");
                }
                StateRef::Unspecified => {}
            }
        }
        rules.crlf &= is_text;
        Ok(encoding.map(|encoding| Rules { encoding, ..rules }))
    }

    /// True if `bytes`, the content of the file, is not in the encoding. With a driver before it that cannot be told.
    pub(super) fn is_malformed(&self, bytes: &[u8]) -> bool {
        self.driver.is_none() && self.encoding.decode(bytes).is_err()
    }
}

/// Gives the content that the index has of a file.
pub(super) type Indexed<'a> = dyn FnMut(&mut Vec<u8>) -> Result<Option<()>, gix::Error> + 'a;

/// Ends every line with CRLF that ends with LF alone.
fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for &byte in text {
        if byte == b'\n' && out.last() != Some(&b'\r') {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

/// Converts files with a `working-tree-encoding`.
pub(super) struct EncodedText {
    pipeline: Pipeline,
    collection: MetadataCollection,
}

impl EncodedText {
    /// Uses `pipeline`, which has seen no attributes yet.
    pub(super) fn new(pipeline: Pipeline) -> Self {
        EncodedText { pipeline, collection: MetadataCollection::default() }
    }

    /// Turns the content of a file into that of its blob. `indexed` gives the content that the index has.
    pub(super) fn clean_text(
        &mut self,
        path: &BStr,
        rules: &Rules,
        content: Vec<u8>,
        indexed: &mut Indexed<'_>,
    ) -> Result<Vec<u8>, GitError> {
        let content = match &rules.driver {
            Some(line) => self.clean(path, line, content, indexed)?,
            None => content,
        };
        let text = rules.encoding.decode(&content).map_err(|error| filter_error(path, error))?;
        self.clean(path, &rules.text, text.into_bytes(), indexed)
    }

    /// Turns the bytes of a blob into those of the file.
    pub(super) fn smudge_text(&mut self, path: &BStr, rules: &Rules, blob: &[u8]) -> Result<Vec<u8>, GitError> {
        let text = self.smudge(path, &rules.text, blob.to_owned())?;
        let text = if rules.crlf { with_crlf(&text) } else { text };
        let content = rules.encoding.encode(&text).map_err(|error| filter_error(path, error))?;
        match &rules.driver {
            Some(line) => self.smudge(path, line, content),
            None => Ok(content),
        }
    }

    fn clean(&mut self, path: &BStr, line: &str, content: Vec<u8>, indexed: &mut Indexed<'_>) -> Result<Vec<u8>, GitError> {
        let mut matching = self.matching(path, line)?;
        let mut out = Vec::new();
        let changed = cleaned(&mut self.pipeline, path, content.as_slice(), &mut matching, indexed, &mut out)?.is_none();
        Ok(if changed { out } else { content })
    }

    fn smudge(&mut self, path: &BStr, line: &str, content: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let mut matching = self.matching(path, line)?;
        let mut out = Vec::new();
        let changed = smudged(&mut self.pipeline, path, &content, &mut matching, &mut out)?;
        Ok(if changed { out } else { content })
    }

    /// Answers with the attributes of `line`, whatever else the path has.
    fn matching(&mut self, path: &BStr, line: &str) -> Result<impl FnMut(&BStr, &mut Outcome) + use<>, GitError> {
        let mut search = gix::attrs::Search::default();
        let added = search.add_patterns_buffer(line.as_bytes(), PathBuf::new(), None, &mut self.collection, false);
        added.map_err(|source| filter_error(path, source))?;
        let (collection, path) = (self.collection.clone(), BString::from(path));
        Ok(move |_: &BStr, found: &mut Outcome| {
            found.initialize(&collection);
            search.pattern_matching_relative_path(path.as_bstr(), gix::glob::pattern::Case::Sensitive, Some(false), found);
        })
    }
}
