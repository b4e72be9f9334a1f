//! Paths as git prints them (git-config(1), `core.quotePath`).

use crate::git::Repo;

/// Which bytes of a path are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quoting {
    /// Bytes above 127 are escaped too.
    pub high_bytes: bool,
}

impl Default for Quoting {
    fn default() -> Self {
        Quoting { high_bytes: true }
    }
}

impl Quoting {
    /// As `core.quotePath` says.
    pub fn of(repo: &Repo) -> Quoting {
        Quoting { high_bytes: repo.gix().config_snapshot().boolean("core.quotePath").unwrap_or(true) }
    }

    fn escapes(self, byte: u8) -> bool {
        byte < 0x20 || byte == 0x7f || byte == b'"' || byte == b'\\' || (byte >= 0x80 && self.high_bytes)
    }

    /// True if the path cannot be printed as it is.
    pub fn needs_quotes(self, path: &[u8]) -> bool {
        path.iter().any(|&byte| self.escapes(byte))
    }

    /// Appends the path, in double quotes if it needs them.
    pub fn push(self, out: &mut Vec<u8>, path: &[u8]) {
        self.push_prefixed(out, b"", path);
    }

    /// Appends `prefix` and `path`, in double quotes around both if the path needs them.
    pub fn push_prefixed(self, out: &mut Vec<u8>, prefix: &[u8], path: &[u8]) {
        if !self.needs_quotes(path) {
            out.extend_from_slice(prefix);
            out.extend_from_slice(path);
            return;
        }
        out.push(b'"');
        out.extend_from_slice(prefix);
        for &byte in path {
            if self.escapes(byte) {
                push_escaped(out, byte);
            } else {
                out.push(byte);
            }
        }
        out.push(b'"');
    }
}

fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x07 => b'a',
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0b => b'v',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_bytes_are_escaped_as_in_c() {
        let table: [(&[u8], &[u8]); 5] = [
            (b"plain name", b"plain name"),
            (b"a\tb", br#""a\tb""#),
            (b"say \"hi\"\\", br#""say \"hi\"\\""#),
            (b"\x01\x7f", br#""\001\177""#),
            ("é".as_bytes(), br#""\303\251""#),
        ];
        for (path, quoted) in table {
            let mut out = Vec::new();
            Quoting { high_bytes: true }.push(&mut out, path);
            assert_eq!(out, quoted);
        }
        let mut out = Vec::new();
        Quoting { high_bytes: false }.push(&mut out, "é".as_bytes());
        assert_eq!(out, "é".as_bytes());
    }
}
