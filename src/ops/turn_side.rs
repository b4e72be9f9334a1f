//! Which checkpoint holds the state before an agent's turn, and which the state after it.

use super::{Context, Error};
use crate::model::{Checkpoint, Kind};
use crate::store::Filter;

/// Which end of an agent's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnSide {
    /// As it was when the prompt was given.
    Before,
    /// As it was when the turn had ended.
    After,
}

/// The checkpoint of that side of the turn that `checkpoint` belongs to. An error if it belongs to none, or if that side of it was
/// never recorded.
pub fn turn_side(context: &Context, checkpoint: Checkpoint, side: TurnSide) -> Result<Checkpoint, Error> {
    let number = checkpoint.number;
    let (Some(turn), Kind::Turn | Kind::TurnStart) = (checkpoint.turn, checkpoint.kind) else {
        return Err(Error::Usage(format!("checkpoint {number} belongs to no turn of an agent")));
    };
    let kinds = vec![Kind::Baseline, Kind::TurnStart, Kind::Turn];
    let filter = Filter { session: Some(checkpoint.session.clone()), kinds, ..Filter::default() };
    let all = context.store.list(&filter)?;
    let is_side = |other: &&Checkpoint| match side {
        TurnSide::Before => match other.kind {
            // What the person changed before the prompt is no part of the turn.
            Kind::TurnStart => other.turn <= Some(turn),
            Kind::Turn => other.turn < Some(turn),
            _ => true,
        },
        TurnSide::After => other.kind == Kind::Turn && other.turn == Some(turn),
    };
    // A turn that went on after its end has several checkpoints, of which the newest counts. What came from another machine got
    // its numbers in no particular order.
    let found = all.iter().filter(is_side).max_by_key(|other| (other.turn.unwrap_or(0), other.kind, other.created_at)).cloned();
    let word = if side == TurnSide::Before { "before" } else { "after" };
    found.ok_or_else(|| Error::Usage(format!("the state {word} turn {turn} was not recorded")))
}
