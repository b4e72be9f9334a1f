//! Dates in the forms that git understands.

/// Reads a date as git does, relative ones seen from `now`, and returns seconds since the epoch.
pub fn parse_date(text: &str, now: jiff::Zoned) -> Option<i64> {
    gix::date::parse(text, Some(now)).ok().map(|time| time.seconds)
}
