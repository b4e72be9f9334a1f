//! Putting the worktree back: the part of a restore that touches files.
//!
//! ```text
//!   Session::begin   folder, journal (preparing), index.lock
//!        │           ── the capture before the restore is taken here, then Plan::make ──
//!   Session::stage   new contents, aside
//!        │           ── the pre-restore checkpoint is recorded here ──
//!   Session::apply   journal (applying), renames, verify, index
//!        │           ── the row for undo is recorded here ──
//!   Applied::finish  journal gone: the restore is done; what was kept aside is discarded
//! ```
//!
//! A failure before `apply` leaves nothing behind, one within it is taken back. A process that dies within it leaves the journal,
//! by which [`Recovery`] finishes the restore or takes it back. Which checkpoint is meant, and why, is not known here.

mod apply;
mod area;
mod back;
mod conversions;
mod dirs;
mod export;
mod held_fast;
mod identity;
mod in_the_way;
mod index;
mod index_lock;
mod journal;
mod journaled;
mod keep;
mod marks;
mod op;
mod originals;
mod past_rules;
mod plan;
mod proof;
mod recover;
mod rescue;
mod session;
mod shares;
mod stage;
mod swap;
mod unreadable;
mod verify;

pub use area::is_area;
pub use export::{Export, export};
pub use index::{IndexEdit, IndexMode, IndexNow, Seen, edits as index_edits};
pub use journal::Purpose;
pub use journaled::{Journaled, journaled_in};
pub use marks::Marks;
pub use op::OpKind;
pub use originals::{Originals, drop_originals, drop_unknown_originals};
pub use past_rules::PastRules;
pub use plan::{KeepReason, Kept, Now, Obstacle, Plan, Scope, Step, Target};
pub use recover::{Aborted, Dead, Pending, Recovery, pending};
pub use rescue::{Left, Rescued};
pub use session::{Applied, ApplyError, Begun, Contents, Session, add_failures, check};
pub use stage::Attributes;
pub use unreadable::Unreadable;
