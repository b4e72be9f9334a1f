//! Where things stand in a settings file: JSON, with the comments and trailing commas that people put into it.
//!
//! Nothing is ever written from what is read here. It only tells where to put a text in and where to take one out, so that
//! everything else in the file stays as it is, byte for byte.

use std::ops::Range;

/// How deep values may lie in each other.
const DEEPEST: usize = 100;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// From its first byte to behind its last.
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

/// What a value is, as far as it matters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Object(Vec<Item>),
    Array(Vec<Item>),
    Text(String),
    /// A number, `true`, `false` or `null`, as it stands there.
    Plain(String),
}

/// A member of an object or an element of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) key: Option<String>,
    /// Where the white space directly before it begins.
    pub(super) gap: usize,
    /// Where it begins: with the key, if it has one.
    pub(super) start: usize,
    pub(super) node: Node,
    /// Where the comma behind it is.
    pub(super) comma: Option<usize>,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: usize,
    pub(super) what: &'static str,
}

impl Node {
    /// The items of an object or an array; none of anything else.
    pub(super) fn items(&self) -> &[Item] {
        match &self.value {
            Value::Object(items) | Value::Array(items) => items,
            Value::Text(_) | Value::Plain(_) => &[],
        }
    }

    /// The member of an object that counts: the last with this key.
    pub(super) fn member(&self, key: &str) -> Option<&Node> {
        let is_meant = |item: &&Item| item.key.as_deref() == Some(key);
        self.items().iter().rev().find(is_meant).map(|item| &item.node)
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.value, Value::Array(_))
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub(super) fn plain(&self) -> Option<&str> {
        if let Value::Plain(text) = &self.value { Some(text) } else { None }
    }
}

/// Reads a whole file.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let mut reader = Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 }, depth: 0 };
    reader.skip()?;
    let node = reader.node()?;
    reader.skip()?;
    if reader.at < text.len() { Err(reader.error("there is more behind its end")) } else { Ok(node) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn error(&self, what: &'static str) -> SyntaxError {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        SyntaxError { line: 1 + before.iter().filter(|byte| **byte == b'\n').count(), what }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes over white space and comments. Returns where the white space at the end of it begins.
    fn skip(&mut self) -> Result<usize, SyntaxError> {
        let mut gap = self.at;
        loop {
            while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                if self.text[..self.at].ends_with('\r') {
                    self.at -= 1;
                }
            } else if self.rest().starts_with("/*") {
                let Some(end) = self.rest().find("*/") else { return Err(self.error("a comment has no end")) };
                self.at += end + 2;
            } else {
                return Ok(gap);
            }
            gap = self.at;
        }
    }

    fn node(&mut self) -> Result<Node, SyntaxError> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.container(b'}')?),
            Some(b'[') => Value::Array(self.container(b']')?),
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => Value::Plain(self.plain()?),
            None => return Err(self.error("a value is missing")),
        };
        Ok(Node { span: start..self.at, value })
    }

    fn container(&mut self, close: u8) -> Result<Vec<Item>, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("values lie too deep in each other"));
        }
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            let gap = self.skip()?;
            match self.peek() {
                Some(found) if found == close => break,
                Some(b',') => return Err(self.error("a comma is in the wrong place")),
                _ => {}
            }
            if items.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.error("a comma or a closing bracket is missing"));
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key()?) } else { None };
            let node = self.node()?;
            let before = self.at;
            self.skip()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            // What stands between an item and the next belongs to the gap before that.
            self.at = comma.map_or(before, |comma| comma + 1);
            items.push(Item { key, gap, start, node, comma });
        }
        self.at += 1;
        self.depth -= 1;
        Ok(items)
    }

    fn key(&mut self) -> Result<String, SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("a key in double quotes is missing"));
        }
        let key = self.string()?;
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.error("a colon is missing"));
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.error("a text has no end")),
                Some(_) => end += 1,
            }
        }
        let Some(quoted) = self.text.get(start..=end) else { return Err(self.error("a text has no end")) };
        let read = serde_json::from_str(quoted).map_err(|_| self.error("a text is malformed"))?;
        self.at = end + 1;
        Ok(read)
    }

    fn plain(&mut self) -> Result<String, SyntaxError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        let word = self.rest()[..length].to_owned();
        if serde_json::from_str::<serde_json::Value>(&word).is_err() {
            return Err(self.error("a value is missing or malformed"));
        }
        self.at += length;
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_where_it_stands() {
        let text = "\u{feff}// head\n{ \"a\" : [1, /* two */ \"b\\\"\"], // tail\r\n \"a\": {}, }\n";

        let root = parse(text).unwrap();

        let first = &root.items()[0];
        assert_eq!(&text[first.node.span.clone()], "[1, /* two */ \"b\\\"\"]");
        assert_eq!(first.node.items()[1].node.text(), Some("b\""));
        assert_eq!(&text[first.node.items()[1].gap..first.node.items()[1].start], " ");
        assert_eq!(&text[root.items()[1].gap..root.items()[1].start], "\r\n ");
        assert!(root.member("a").unwrap().is_object(), "the last one counts");
        assert_eq!(root.items()[1].comma.map(|at| &text[at..=at]), Some(","));
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let table = [
            ("", 1),
            ("\n\n{", 3),
            ("{\n\"a\" 1}", 2),
            ("{\"a\":1\n\"b\":2}", 2),
            ("{a:1}", 1),
            ("[1,,2]", 1),
            ("{} x", 1),
            ("{\"a\":\n tru}", 2),
            ("{\n/* x }", 2),
            ("{\"a\":\"x\n\"}", 1),
            ("{\"a\":\"\\", 1),
            ("{\"a\":\"\\x\"}", 1),
            ("]", 1),
        ];
        for (text, line) in table {
            assert_eq!(parse(text).map_err(|error| error.line), Err(line), "{text:?}");
        }
        assert!(parse(&"[".repeat(1_000_000)).is_err());
    }
}
