//! Text in other encodings, as `working-tree-encoding` of gitattributes(5) names them.
//!
//! What git takes from iconv(3) is done here: the wide encodings by hand, with git's own rules for byte order marks, the others
//! by the tables of the web, which know them under the names that people use.

use gix::bstr::BStr;

/// An encoding of files in the worktree. In the repository their text is UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-16 or UTF-32.
    Wide {
        /// Bytes of a unit: 2 or 4.
        width: usize,
        /// The order of its bytes.
        order: Order,
        /// What is said of the order in the file itself.
        mark: Mark,
    },
    /// ISO 8859-1: each byte is the character of that number.
    Latin1,
    /// Any other.
    Other(&'static encoding_rs::Encoding),
}

/// The order of the bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The least first.
    Little,
    /// The greatest first.
    Big,
}

/// The byte order mark at the beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The name of the encoding tells the order; a mark is an error.
    Forbidden,
    /// Only the mark tells the order.
    Required,
    /// The name tells the order, and a mark is written nevertheless.
    Written,
}

/// Text that is not in the encoding it is said to be in, or does not fit into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum EncodingError {
    #[error("the encoding is not known")]
    Unknown,
    #[error("a byte order mark is not allowed in this encoding")]
    MarkForbidden,
    #[error("the byte order mark that this encoding needs is missing")]
    MarkMissing,
    #[error("the content is not in this encoding")]
    Malformed,
    #[error("the text has characters that this encoding has not")]
    Unfit,
}

/// The order that iconv(3) writes where a name leaves it open.
const NATIVE: Order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };

impl Encoding {
    /// The encoding called `name`; none if that is UTF-8, which needs no conversion.
    pub(super) fn by_name(name: &BStr) -> Result<Option<Encoding>, EncodingError> {
        let upper = name.to_ascii_uppercase();
        let wide = |width, order, mark| Ok(Some(Encoding::Wide { width, order, mark }));
        match upper.as_slice() {
            b"UTF-8" | b"UTF8" => Ok(None),
            b"UTF-16" | b"UTF16" => wide(2, NATIVE, Mark::Required),
            b"UTF-16LE" | b"UTF16LE" => wide(2, Order::Little, Mark::Forbidden),
            b"UTF-16BE" | b"UTF16BE" => wide(2, Order::Big, Mark::Forbidden),
            b"UTF-16LE-BOM" | b"UTF16LE-BOM" => wide(2, Order::Little, Mark::Written),
            b"UTF-32" | b"UTF32" => wide(4, NATIVE, Mark::Required),
            b"UTF-32LE" | b"UTF32LE" => wide(4, Order::Little, Mark::Forbidden),
            b"UTF-32BE" | b"UTF32BE" => wide(4, Order::Big, Mark::Forbidden),
            b"ISO-8859-1" | b"ISO8859-1" | b"LATIN1" | b"LATIN-1" => Ok(Some(Encoding::Latin1)),
            _ => match encoding_rs::Encoding::for_label(&upper) {
                Some(encoding) => Ok(Some(Encoding::Other(encoding))),
                None => Err(EncodingError::Unknown),
            },
        }
    }

    /// The text of a file in this encoding.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<String, EncodingError> {
        match self {
            // Nothing is converted of nothing (`convert.c:encode_to_git`).
            _ if bytes.is_empty() => Ok(String::new()),
            Encoding::Latin1 => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Encoding::Other(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
                text.map(String::from).ok_or(EncodingError::Malformed)
            }
            Encoding::Wide { width, order, mark } => {
                let (found, rest) = strip_mark(bytes, width);
                let order = match (mark, found) {
                    (Mark::Forbidden, Some(_)) => return Err(EncodingError::MarkForbidden),
                    (Mark::Required, None) => return Err(EncodingError::MarkMissing),
                    (_, found) => found.unwrap_or(order),
                };
                decode_wide(rest, width, order).ok_or(EncodingError::Malformed)
            }
        }
    }

    /// A file in this encoding with the text that `blob` holds.
    pub(super) fn encode(self, blob: &[u8]) -> Result<Vec<u8>, EncodingError> {
        let text = std::str::from_utf8(blob).map_err(|_| EncodingError::Unfit)?;
        match self {
            _ if blob.is_empty() => Ok(Vec::new()),
            Encoding::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).map_err(|_| EncodingError::Unfit)).collect(),
            Encoding::Other(encoding) => match encoding.encode(text) {
                (bytes, used, false) if used == encoding => Ok(bytes.into_owned()),
                _ => Err(EncodingError::Unfit),
            },
            Encoding::Wide { width, order, mark } => {
                let mark = (mark != Mark::Forbidden).then_some('\u{feff}');
                Ok(mark.into_iter().chain(text.chars()).flat_map(|c| encode_wide(c, width, order)).collect())
            }
        }
    }
}

/// Takes a byte order mark off, and tells the order it stands for.
fn strip_mark(bytes: &[u8], width: usize) -> (Option<Order>, &[u8]) {
    for order in [Order::Little, Order::Big] {
        let mark: Vec<u8> = encode_wide('\u{feff}', width, order).collect();
        if let Some(rest) = bytes.strip_prefix(mark.as_slice()) {
            return (Some(order), rest);
        }
    }
    (None, bytes)
}

fn decode_wide(bytes: &[u8], width: usize, order: Order) -> Option<String> {
    let units = bytes.chunks(width).map(|unit| {
        let number = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        (unit.len() == width).then(|| match order {
            Order::Little => unit.iter().rev().fold(0, number),
            Order::Big => unit.iter().fold(0, number),
        })
    });
    let units = units.collect::<Option<Vec<u32>>>()?;
    if width == 4 {
        return units.into_iter().map(char::from_u32).collect();
    }
    let halves = units.into_iter().map(|unit| u16::try_from(unit).unwrap_or_default());
    char::decode_utf16(halves).collect::<Result<String, _>>().ok()
}

fn encode_wide(c: char, width: usize, order: Order) -> impl Iterator<Item = u8> {
    let mut halves = [0; 2];
    let units: Vec<u32> = match width {
        4 => vec![u32::from(c)],
        _ => c.encode_utf16(&mut halves).iter().map(|half| u32::from(*half)).collect(),
    };
    units.into_iter().flat_map(move |unit| {
        let mut bytes = unit.to_le_bytes()[..width].to_vec();
        if order == Order::Big {
            bytes.reverse();
        }
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Encoding {
        Encoding::by_name(name.into()).unwrap().unwrap()
    }

    #[test]
    fn text_goes_through_every_encoding_and_back() {
        let table: [(&str, &str, &[u8]); 10] = [
            ("UTF-16LE", "\u{e4}\n", b"\xe4\0\n\0"),
            ("utf-16be", "\u{e4}\n", b"\0\xe4\0\n"),
            ("UTF-16LE-BOM", "a\u{1f600}", b"\xff\xfea\0\x3d\xd8\x00\xde"),
            ("UTF-32LE", "\u{1f600}", b"\x00\xf6\x01\x00"),
            ("UTF-32BE", "a", b"\0\0\0a"),
            ("ISO-8859-1", "\u{80}\u{e4}", b"\x80\xe4"),
            ("latin1", "\u{ff}", b"\xff"),
            ("cp1252", "\u{20ac}", b"\x80"),
            ("SHIFT-JIS", "\u{30c6}", b"\x83\x65"),
            ("KOI8-R", "\u{416}", b"\xf6"),
        ];
        for (name, text, bytes) in table {
            assert_eq!(named(name).decode(bytes).as_deref(), Ok(text), "{name}");
            assert_eq!(named(name).encode(text.as_bytes()).as_deref(), Ok(bytes), "{name}");
        }
    }

    #[test]
    fn a_mark_decides_about_the_order_where_the_name_leaves_it_open() {
        for bytes in [b"\xff\xfea\0".as_slice(), b"\xfe\xff\0a"] {
            assert_eq!(named("UTF-16").decode(bytes).as_deref(), Ok("a"));
        }
        assert_eq!(named("UTF-16").decode(b"a\0"), Err(EncodingError::MarkMissing));
        assert_eq!(named("UTF-16LE").decode(b"\xff\xfea\0"), Err(EncodingError::MarkForbidden));
        assert_eq!(named("UTF-16LE-BOM").decode(b"a\0").as_deref(), Ok("a"));
    }

    #[test]
    fn what_is_not_in_an_encoding_is_an_error() {
        assert_eq!(named("UTF-16LE").decode(b"a"), Err(EncodingError::Malformed));
        assert_eq!(named("UTF-16LE").decode(b"\x00\xd8a\0"), Err(EncodingError::Malformed));
        assert_eq!(named("UTF-32LE").decode(b"\xff\xff\xff\xff"), Err(EncodingError::Malformed));
        assert_eq!(named("ISO-8859-1").encode("\u{20ac}".as_bytes()), Err(EncodingError::Unfit));
        assert_eq!(named("SHIFT-JIS").encode("\u{e4}".as_bytes()), Err(EncodingError::Unfit));
        assert_eq!(named("UTF-16").encode(b"\xff"), Err(EncodingError::Unfit));
        assert_eq!(Encoding::by_name("no-such".into()), Err(EncodingError::Unknown));
        assert_eq!(Encoding::by_name("utf-8".into()), Ok(None));
    }
}
