//! Putting our entries into the text of a settings file, and taking them out again.
//!
//! Both are edits of the text: what others wrote stays as it is, with its order, comments and white space, and taking out is the exact
//! reverse of putting in. What tells them apart later is white space: a list or object that was there before and was empty gets our
//! entry on its own line, between two spaces; one that came with the entry begins with a line break, and goes with it.

use std::ops::Range;

use serde_json::Value as Json;

use super::jsonc::{Item, Node, SyntaxError, parse};

/// Why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EditError {
    /// It is not what it should be.
    Syntax { line: usize, what: &'static str },
}

impl From<SyntaxError> for EditError {
    fn from(error: SyntaxError) -> Self {
        EditError::Syntax { line: error.line, what: error.what }
    }
}

/// An entry that is to be there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// The event.
    pub(super) event: &'static str,
    /// The command.
    pub(super) command: String,
    /// What stands in the list of the event.
    pub(super) entry: Json,
}

/// An entry of ours that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Own {
    /// The event in whose list it is.
    pub(super) event: String,
    /// The command.
    pub(super) command: String,
    /// What stands in the list; null if there are comments in it.
    shape: Json,
}

/// How the file is written.
struct Style {
    newline: &'static str,
    indent: String,
}

impl Style {
    fn of(text: &str) -> Style {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().skip(1).find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
        let indent = indented.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]);
        Style { newline, indent: if indent.starts_with('\t') { "\t".to_owned() } else { indent.to_owned() } }
    }

    fn line(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.indent.repeat(depth))
    }

    /// A value whose own line is indented `depth` times.
    fn render(&self, value: &Json, depth: usize) -> String {
        let (open, close, parts): (_, _, Vec<String>) = match value {
            Json::Object(fields) => {
                let field =
                    |(key, value): (&String, &Json)| format!("{}: {}", Json::from(key.as_str()), self.render(value, depth + 1));
                ('{', '}', fields.iter().map(field).collect())
            }
            Json::Array(items) => ('[', ']', items.iter().map(|item| self.render(item, depth + 1)).collect()),
            plain => return plain.to_string(),
        };
        let between = format!(",{}", self.line(depth + 1));
        format!("{open}{}{}{}{close}", self.line(depth + 1), parts.join(&between), self.line(depth))
    }
}

/// The text of a new file.
pub(super) fn created(version: Option<u32>, wanted: &[Wanted]) -> String {
    let mut root = serde_json::Map::new();
    if let Some(version) = version {
        root.insert("version".into(), version.into());
    }
    let hooks = wanted.iter().map(|wanted| (wanted.event.to_owned(), Json::from(vec![wanted.entry.clone()])));
    root.insert("hooks".into(), Json::Object(hooks.collect()));
    Style::of("").render(&Json::Object(root), 0) + "\n"
}

/// The text with these entries in place of all that begin with `prefix`. None if that is what it is.
pub(super) fn with(text: &str, prefix: &str, wanted: &[Wanted]) -> Result<Option<String>, EditError> {
    let own = own_entries(text, prefix)?;
    let is_there = |wanted: &Wanted| {
        let meant = own.iter().filter(|own| own.command == wanted.command);
        meant.map(|own| own.event == wanted.event && own.shape == wanted.entry).eq([true])
    };
    if own.len() == wanted.len() && wanted.iter().all(is_there) {
        return Ok(None);
    }
    let mut text = without(text, prefix)?.unwrap_or_else(|| text.to_owned());
    for wanted in wanted {
        text = put(&text, wanted)?;
    }
    Ok(Some(text))
}

/// The text without all entries that begin with `prefix`. None if there is none.
pub(super) fn without(text: &str, prefix: &str) -> Result<Option<String>, EditError> {
    let mut left: Option<String> = None;
    // The last one first, as each was put behind those before it.
    while let Some(next) = take_last(left.as_deref().unwrap_or(text), prefix)? {
        left = Some(next);
    }
    Ok(left)
}

/// The entries that begin with `prefix`, in order.
pub(super) fn own_entries(text: &str, prefix: &str) -> Result<Vec<Own>, EditError> {
    let root = parse(text)?;
    let mut found = Vec::new();
    for list in root.member("hooks").into_iter().flat_map(Node::items) {
        for entry in list.node.items() {
            for handler in handlers(&entry.node).filter(|handler| is_own(handler, prefix)) {
                let shape = serde_json::from_str(&text[entry.node.span.clone()]).unwrap_or_default();
                let command = command(handler).unwrap_or_default().to_owned();
                found.push(Own { event: list.key.clone().unwrap_or_default(), command, shape });
            }
        }
    }
    Ok(found)
}

/// What an entry in the list of an event runs: it itself, or what is in its own list.
fn handlers(entry: &Node) -> impl Iterator<Item = &Node> {
    let below = entry.member("hooks").filter(|below| below.is_array());
    let itself = if below.is_none() { Some(entry) } else { None };
    itself.into_iter().chain(below.into_iter().flat_map(|below| below.items().iter().map(|item| &item.node)))
}

fn command(handler: &Node) -> Option<&str> {
    ["command", "bash"].iter().find_map(|key| handler.member(key)?.text())
}

fn is_own(handler: &Node, prefix: &str) -> bool {
    command(handler).is_some_and(|command| command.starts_with(prefix))
}

/// The text with one more entry.
fn put(text: &str, wanted: &Wanted) -> Result<String, EditError> {
    let (root, style) = (parse(text)?, Style::of(text));
    let wrong = |node: &Node, what| {
        let line = 1 + text[..node.span.start].matches('\n').count();
        Err(EditError::Syntax { line, what })
    };
    if !root.is_object() {
        return wrong(&root, "it is no object");
    }
    let list = Json::from(vec![wanted.entry.clone()]);
    let Some(hooks) = root.member("hooks") else {
        let hooks = serde_json::json!({ wanted.event: list });
        return Ok(insert(text, &root, 0, &format!("\"hooks\": {}", style.render(&hooks, 1)), &style));
    };
    if !hooks.is_object() {
        return wrong(hooks, "`hooks` is no object");
    }
    let Some(entries) = hooks.member(wanted.event) else {
        let item = format!("{}: {}", Json::from(wanted.event), style.render(&list, 2));
        return Ok(insert(text, hooks, 1, &item, &style));
    };
    if !entries.is_array() {
        return wrong(entries, "the hooks of an event are no list");
    }
    Ok(insert(text, entries, 2, &style.render(&wanted.entry, 3), &style))
}

/// Puts an item at the end of an object or list, the brackets of which stand on lines that are indented `depth` times.
fn insert(text: &str, container: &Node, depth: usize, item: &str, style: &Style) -> String {
    let mut text = text.to_owned();
    let Some(last) = container.items().last() else {
        text.insert_str(container.span.start + 1, &format!(" {item} "));
        return text;
    };
    let end = last.node.span.end;
    let comma = if last.comma.is_some() { "," } else { "" };
    let at = end_of_remark(&text, last.comma.map_or(end, |comma| comma + 1));
    text.insert_str(at, &format!("{}{item}{comma}", style.line(depth + 1)));
    if last.comma.is_none() {
        text.insert(end, ',');
    }
    text
}

/// Behind the comments that stand on the same line.
fn end_of_remark(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text[at..].trim_start_matches([' ', '\t']);
        let start = text.len() - rest.len();
        if rest.starts_with("//") {
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            return start + line.strip_suffix('\r').unwrap_or(line).len();
        }
        match rest.strip_prefix("/*").and_then(|comment| comment.split_once("*/")) {
            Some((comment, _)) if !comment.contains('\n') => at = start + comment.len() + 4,
            _ => return at,
        }
    }
}

/// The text without the last of our entries. None if there is none.
fn take_last(text: &str, prefix: &str) -> Result<Option<String>, EditError> {
    let root = parse(text)?;
    let Some((at, hooks)) = last_member(&root, "hooks") else { return Ok(None) };
    for (event, list) in hooks.items().iter().enumerate().rev() {
        for (entry, item) in list.node.items().iter().enumerate().rev() {
            let node = &item.node;
            let own = handlers(node).filter(|handler| is_own(handler, prefix)).count();
            if own == 0 {
                continue;
            }
            let mut way = vec![(&root, at), (hooks, event), (&list.node, entry)];
            // What others run in the same group stays.
            if own < handlers(node).count()
                && let Some((at, below)) = last_member(node, "hooks")
                && let Some(handler) = below.items().iter().rposition(|handler| is_own(&handler.node, prefix))
            {
                way.extend([(node, at), (below, handler)]);
            }
            return Ok(Some(take(text, &way)));
        }
    }
    Ok(None)
}

fn last_member<'a>(node: &'a Node, key: &str) -> Option<(usize, &'a Node)> {
    let at = node.items().iter().rposition(|item| item.key.as_deref() == Some(key))?;
    Some((at, &node.items()[at].node))
}

/// Takes out the item at the end of the way, and each container that came with it and would be empty.
fn take(text: &str, way: &[(&Node, usize)]) -> String {
    let Some(((container, at), above)) = way.split_last() else { return text.to_owned() };
    let items = container.items();
    let item = &items[*at];
    let span = item.gap..item.node.span.end;
    if items.len() > 1 {
        let comma = match (item.comma, at.checked_sub(1).and_then(|before| items[before].comma)) {
            (Some(own), _) => own,
            (None, Some(before)) => before,
            (None, None) => return cut(text, std::iter::once(span)),
        };
        return cut(text, [span, comma..comma + 1]);
    }
    if stands_apart(text, container, item) {
        return cut(text, std::iter::once(item.start - 1..item.node.span.end + 1));
    }
    if !above.is_empty() {
        return take(text, above);
    }
    // The whole file is left. Comments in it are somebody's.
    let inside = container.span.start + 1..container.span.end - 1;
    let rest = cut(text, [span.clone()].into_iter().chain(item.comma.map(|comma| comma..comma + 1)));
    let is_bare = (text[inside.start..item.start].to_owned() + &text[span.end..inside.end])
        .trim_matches([',', ' ', '\t', '\r', '\n'])
        .is_empty();
    if is_bare { cut(text, std::iter::once(inside)) } else { rest }
}

/// True if an item was put into a container that was empty.
fn stands_apart(text: &str, container: &Node, item: &Item) -> bool {
    let behind = text.as_bytes().get(item.node.span.end);
    item.start == container.span.start + 2 && text.as_bytes()[item.start - 1] == b' ' && behind == Some(&b' ')
}

/// The text without these parts.
fn cut(text: &str, parts: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by_key(|part| part.start);
    let mut left = text.to_owned();
    for part in parts.into_iter().rev() {
        left.replace_range(part, "");
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;

    const PREFIX: &str = "git checkpoint hook claude ";

    fn installed(text: &str) -> String {
        with(text, PREFIX, &Agent::Claude.wanted()).unwrap().unwrap()
    }

    /// Texts to put our entries into, each with something that is to come back as it was.
    fn texts() -> Vec<String> {
        let others = r#"{"type": "command", "command": "notify"}"#;
        let mut texts: Vec<String> = [
            "{}",
            "{}\n",
            "{ }",
            "{\n}\n",
            "{\n\n  \n}",
            "\u{feff}{\"a\": 1}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{\n\t\"a\": {\n\t\t\"b\": [1, 2]\n\t}\n}\n",
            "{\n    \"a\": 1   \n}\n",
            "// head\n{\n  // first\n  \"a\": 1, // one\n  /* two */ \"b\": 2 /* three */ // four  \n  // last\n}\n// tail",
            "{\n  \"a\": 1, // one, with a trailing comma\n}",
            "{\n  \"a\": 1 /* over\n two lines */\n}",
            "{ // only a comment\n}",
            "{\"hooks\": {}}",
            "{\"hooks\":{ /* nothing */ }, \"z\": 0}",
            "{\n  \"hooks\": {\"Stop\": [], \"PreToolUse\": [ ]}\n}",
            "{\"hooks\": {}, \"a\": 1, \"hooks\": {\"Stop\": []}}",
            "{\"sürprise\": \"\\\"}{\", \"x\": \"// no comment\"}",
        ]
        .map(str::to_owned)
        .to_vec();
        texts.push(format!("{{\n  \"hooks\": {{\n    \"Stop\": [\n      {{\"hooks\": [{others}]}} // mine\n    ],\n  }}\n}}\n"));
        texts.push(format!("{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{others},{others}]}}]}}}}"));
        texts
    }

    #[test]
    fn what_is_put_in_is_read_by_a_strict_reader_where_the_rest_was() {
        let text = "{\"a\": 1, \"hooks\": {\"Stop\": [{\"hooks\": []}]}}";

        let read: Json = serde_json::from_str(&installed(text)).unwrap();

        assert_eq!(read["a"], 1);
        assert_eq!(read["hooks"]["Stop"][1]["hooks"][0]["command"], "git checkpoint hook claude Stop");
        assert_eq!(read["hooks"].as_object().unwrap().len(), 5);
    }

    #[test]
    fn what_is_put_in_and_taken_out_leaves_every_byte_as_it_was() {
        for newline in ["\n", "\r\n"] {
            for text in texts() {
                let text = text.replace('\n', newline);
                let with_ours = installed(&text);

                assert_eq!(with(&with_ours, PREFIX, &Agent::Claude.wanted()), Ok(None), "{with_ours}");
                assert_eq!(with_ours.matches("git checkpoint hook").count(), 5, "{with_ours}");
                assert_eq!(without(&with_ours, PREFIX).unwrap().as_ref(), Some(&text), "{with_ours}");
                assert_eq!(without(&text, PREFIX), Ok(None));
            }
        }
    }

    #[test]
    fn the_file_keeps_its_line_ends_and_its_indentation() {
        assert!(!installed("{\r\n\t\"a\": 1\r\n}\r\n").replace("\r\n", "").contains('\n'));
        assert!(installed("{\n\t\"a\": 1\n}\n").contains("\n\t\t\"Stop\": [\n\t\t\t{\n"));
        assert!(installed("{\n    \"a\": 1\n}\n").contains("\n        \"Stop\": [\n            {\n"));
    }

    #[test]
    fn entries_of_another_version_are_replaced_and_all_go() {
        let stale = |event: &str, more: &str| {
            format!("{{\"hooks\": [{{\"type\": \"command\", \"command\": \"git checkpoint hook claude {event}\"{more}}}]}}")
        };
        let mixed = stale("Stop", "").replace("[{", "[{\"command\": \"mine\"}, {");
        for (list, rest) in [
            (stale("Old", ""), "[]"),
            (format!("{}, {{\"hooks\": []}}", stale("Stop", ", \"timeout\": 1")), "[ {\"hooks\": []}]"),
            (mixed, "[{\"hooks\": [{\"command\": \"mine\"}]}]"),
        ] {
            let text = format!("{{\"a\": 1, \"hooks\": {{\"Stop\": [{list}], \"Z\": []}}}}");
            let with_ours = installed(&text);

            assert_eq!(own_entries(&with_ours, PREFIX).unwrap().len(), 5, "{with_ours}");
            assert!(!with_ours.contains("Old"));
            let left = without(&with_ours, PREFIX).unwrap().unwrap();
            assert_eq!(Some(&left), without(&text, PREFIX).unwrap().as_ref(), "as if they were taken out at once");
            let stop = if rest == "[]" { String::new() } else { format!(" \"Stop\": {rest},") };
            assert_eq!(left.replace(" ", ""), format!("{{\"a\":1,\"hooks\":{{{stop}\"Z\":[]}}}}").replace(" ", ""));
        }
    }

    #[test]
    fn what_others_write_behind_ours_stays() {
        let text = installed("{\n  \"a\": 1\n}\n");
        let later = text.replace("\n  }\n}\n", ",\n    \"Z\": []\n  },\n  \"z\": 2\n}\n");
        assert_ne!(text, later);

        let left = without(&later, PREFIX).unwrap().unwrap();

        assert_eq!(left, "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Z\": []\n  },\n  \"z\": 2\n}\n");
    }

    #[test]
    fn what_cannot_hold_hooks_is_refused_with_its_line() {
        for (text, line) in [("[]", 1), ("\n{\"hooks\":\n 1}", 3), ("{\n\"hooks\": {\"Stop\":\n {}}}", 3), ("{\n\"a\" 1}", 2)] {
            let error = with(text, PREFIX, &Agent::Claude.wanted());
            assert!(matches!(error, Err(EditError::Syntax { line: found, .. }) if found == line), "{text}: {error:?}");
        }
    }
}
