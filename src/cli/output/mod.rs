//! The only place that writes to the terminal: streams, colour, pager, width, and the making safe of what is shown.

mod age;
mod pager;
mod plural;
mod progress;
mod sanitize;
mod style;
mod ui;
mod width;

pub use age::{Clock, rfc3339};
pub use plural::plural;
pub(in crate::cli) use progress::clear_in_panic;
pub use sanitize::sanitize;
pub use style::{ColorChoice, Style, Styles};
pub use ui::{Options, Ui};
pub use width::{display_width, fit, pad, truncate};
