//! `--format`: a line of a person's own making for each checkpoint.

use std::borrow::Cow;

use crate::cli::output::{Clock, rfc3339, sanitize};
use crate::model::{ByteSlice, Checkpoint, ObjectId, Stat};

/// A format, read once and applied to many checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    Field(Field),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Number,
    Id,
    Commit,
    Tree,
    Ref,
    Kind,
    Session,
    Step,
    Turn,
    Agent,
    Name,
    Subject,
    Body,
    Created,
    CreatedRelative,
    CreatedIso,
    Files,
    Insertions,
    Deletions,
    Head,
    Branch,
    Worktree,
    WorktreePath,
    Origin,
    Complete,
}

const FIELDS: [(&str, Field); 25] = [
    ("number", Field::Number),
    ("id", Field::Id),
    ("commit", Field::Commit),
    ("tree", Field::Tree),
    ("ref", Field::Ref),
    ("kind", Field::Kind),
    ("session", Field::Session),
    ("step", Field::Step),
    ("turn", Field::Turn),
    ("agent", Field::Agent),
    ("name", Field::Name),
    ("subject", Field::Subject),
    ("body", Field::Body),
    ("created", Field::Created),
    ("created:relative", Field::CreatedRelative),
    ("created:iso", Field::CreatedIso),
    ("files", Field::Files),
    ("insertions", Field::Insertions),
    ("deletions", Field::Deletions),
    ("head", Field::Head),
    ("branch", Field::Branch),
    ("worktree", Field::Worktree),
    ("worktree:path", Field::WorktreePath),
    ("origin", Field::Origin),
    ("complete", Field::Complete),
];

/// The names of the fields, in the order the manual lists them.
pub fn fields() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, _)| *name)
}

impl Format {
    /// Reads a format; what is wrong with it otherwise. Besides `%(field)` there are `%n`, `%%` and `%x` with two hex digits.
    pub fn parse(text: &str) -> Result<Format, String> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            literal.extend_from_slice(&rest.as_bytes()[..at]);
            rest = &rest[at + 1..];
            if let Some(field) = rest.strip_prefix('(') {
                let Some((name, after)) = field.split_once(')') else {
                    return Err(format!("`%({field}` has no closing parenthesis"));
                };
                let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == name) else {
                    return Err(format!("there is no field `%({name})`"));
                };
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Field(*field));
                rest = after;
            } else if let Some((byte, after)) = escape(rest) {
                literal.push(byte);
                rest = after;
            } else {
                let wrong: String = rest.chars().take(1).collect();
                return Err(format!("`%{wrong}` means nothing; `%%` is a percent sign"));
            }
        }
        literal.extend_from_slice(rest.as_bytes());
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Format(pieces))
    }

    /// True if the counts of what a checkpoint changed are asked for.
    pub fn needs_stat(&self) -> bool {
        let counts = [Field::Files, Field::Insertions, Field::Deletions];
        self.0.iter().any(|piece| matches!(piece, Piece::Field(field) if counts.contains(field)))
    }

    /// Appends what `checkpoint` gives. `shown` makes values safe for a terminal; what the format itself says stays.
    pub fn write(&self, checkpoint: &Checkpoint, clock: &Clock, shown: Shown, out: &mut Vec<u8>) {
        for piece in &self.0 {
            match piece {
                Piece::Literal(bytes) => out.extend_from_slice(bytes),
                Piece::Field(field) => {
                    let value = value(*field, checkpoint, clock);
                    match shown {
                        Shown::Exact => out.extend_from_slice(&value),
                        Shown::Terminal => {
                            let text = value.to_str_lossy();
                            // A body has lines of its own; each is made safe.
                            let safe: Vec<Cow<'_, str>> = text.split('\n').map(sanitize).collect();
                            out.extend_from_slice(safe.join("\n").as_bytes());
                        }
                    }
                }
            }
        }
    }
}

/// Who reads the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A program: every byte as it is.
    Exact,
    /// A person: control characters are escaped.
    Terminal,
}

fn escape(rest: &str) -> Option<(u8, &str)> {
    if let Some(after) = rest.strip_prefix('n') {
        return Some((b'\n', after));
    }
    if let Some(after) = rest.strip_prefix('%') {
        return Some((b'%', after));
    }
    let digits = rest.strip_prefix('x')?.get(..2)?;
    let byte = digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16).ok())??;
    Some((byte, &rest[3..]))
}

fn value<'a>(field: Field, c: &'a Checkpoint, clock: &Clock) -> Cow<'a, [u8]> {
    let text = |text: &'static str| Cow::Borrowed(text.as_bytes());
    let made = |text: String| Cow::Owned(text.into_bytes());
    let maybe = |text: &'_ Option<String>| Cow::Owned(text.clone().unwrap_or_default().into_bytes());
    let id = |id: Option<ObjectId>| made(id.map(|id| id.to_string()).unwrap_or_default());
    let stat = |value: fn(&Stat) -> u64| made(c.stat.as_ref().map(|s| value(s).to_string()).unwrap_or_default());
    match field {
        Field::Number => made(c.number.to_string()),
        Field::Id => Cow::Borrowed(c.id.as_str().as_bytes()),
        Field::Commit => made(c.commit.to_string()),
        Field::Tree => made(c.tree.to_string()),
        Field::Ref => made(c.ref_name()),
        Field::Kind => text(c.kind.as_str()),
        Field::Session => Cow::Borrowed(c.session.as_str().as_bytes()),
        Field::Step => maybe(&c.step),
        Field::Turn => made(c.turn.map(|turn| turn.to_string()).unwrap_or_default()),
        Field::Agent => maybe(&c.agent),
        Field::Name => made(c.names.join(",")),
        Field::Subject => Cow::Borrowed(c.subject.as_bytes()),
        Field::Body => Cow::Borrowed(body(c).as_bytes()),
        Field::Created => made(rfc3339(c.created_at)),
        Field::CreatedRelative => made(clock.age(c.created_at)),
        Field::CreatedIso => made(clock.git_iso(c.created_at)),
        Field::Files => stat(|s| s.files),
        Field::Insertions => stat(|s| s.insertions),
        Field::Deletions => stat(|s| s.deletions),
        Field::Head => id(c.head),
        Field::Branch => maybe(&c.branch),
        Field::Worktree => Cow::Borrowed(c.worktree.id.as_str().as_bytes()),
        Field::WorktreePath => Cow::Borrowed(c.worktree.path.as_bytes()),
        Field::Origin => maybe(&c.origin),
        Field::Complete => text(if c.is_complete() { "true" } else { "false" }),
    }
}

/// What the message holds beyond its first line.
pub(super) fn body(checkpoint: &Checkpoint) -> &str {
    checkpoint.message.as_deref().and_then(|message| message.split_once('\n')).map_or("", |(_, body)| body.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::sample;

    fn made(format: &str, checkpoint: &Checkpoint, shown: Shown) -> String {
        let mut out = Vec::new();
        Format::parse(format).unwrap().write(checkpoint, &Clock::utc(61_000), shown, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_field_gives_its_value() {
        let c = Checkpoint {
            number: 7,
            names: vec!["a".into(), "b".into()],
            message: Some("s\n\nb1\nb2".into()),
            stat: Some(Stat { files: 3, insertions: 2, deletions: 1 }),
            turn: Some(4),
            ..sample(1)
        };
        let id = "01".repeat(20);
        let table = [
            ("%(number) %(kind) %(session) %(turn) %(name)", "7 manual main-1 4 a,b".to_owned()),
            ("%(commit) %(tree) [%(head)]", format!("{id} {id} []")),
            ("%(ref)", format!("refs/checkpoints/main-1/{}", c.id)),
            ("%(subject)|%(body)|%(step)|%(agent)", "sample 1|b1\nb2||".to_owned()),
            ("%(created) %(created:relative)", "1970-01-01T00:00:01.000Z 60 seconds ago".to_owned()),
            ("%(files) %(insertions) %(deletions)", "3 2 1".to_owned()),
            ("%(branch) %(worktree) %(worktree:path) %(complete)", "main main /w true".to_owned()),
            ("a%nb%x00c%%d%x41", "a\nb\0c%dA".to_owned()),
        ];
        for (format, expected) in table {
            assert_eq!(made(format, &c, Shown::Exact), expected, "{format}");
        }
        assert!(Format::parse("%(files)").unwrap().needs_stat());
        assert!(!Format::parse("%(number)").unwrap().needs_stat());
    }

    #[test]
    fn values_are_made_safe_on_a_terminal_and_the_format_is_not() {
        let c = Checkpoint { step: Some("a\x1b[31m".into()), ..sample(1) };

        assert_eq!(made("%x1b%(step)", &c, Shown::Terminal), "\x1ba\\x1b[31m");
        assert_eq!(made("%(step)", &c, Shown::Exact), "a\x1b[31m");
    }

    #[test]
    fn what_means_nothing_is_named() {
        let table = [
            ("%(nmae)", "there is no field `%(nmae)`"),
            ("%(name", "`%(name` has no closing parenthesis"),
            ("%q", "`%q` means nothing; `%%` is a percent sign"),
            ("%", "`%` means nothing; `%%` is a percent sign"),
            ("%xg0", "`%x` means nothing; `%%` is a percent sign"),
            ("%x+1", "`%x` means nothing; `%%` is a percent sign"),
        ];
        for (format, expected) in table {
            assert_eq!(Format::parse(format).unwrap_err(), expected, "{format}");
        }
    }
}
