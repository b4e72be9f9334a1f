//! Keeps what many captures leave behind few: small packs, loose objects and loose refs are put together now and then.
//!
//! It goes the way of merge sort, so that the work for each save stays small however many there are. It never makes a save
//! fail; what could not be done is tried again with the next.

use super::Context;
use crate::git::lock::RepositoryLock;
use crate::git::{ObjectFolder, drop_broken_index, merge_packs, pack_refs};
use crate::sys::progress::{self, Phase};

/// So many packs of a tier become one of the next.
const PACKS: usize = 16;
/// So many loose objects are taken for as much as one pack.
const LOOSE: usize = 4;
/// Tiers above this are left to `git gc`: their packs are few.
const TIERS: u8 = 4;
/// Refs are packed each time that so many checkpoints were made.
const REFS: u64 = 64;

/// Called after checkpoint `number` was made.
pub(super) fn tidy(context: &mut Context, number: u64) {
    drop_broken_index(&context.repo.common_dir().join("objects/pack"));
    let many = context.store.packs(0).is_ok_and(|names| is_enough(&names));
    let stale = pack_refs::has_stale(&context.repo);
    if !many && !stale && !number.is_multiple_of(REFS) {
        return;
    }
    let Ok(Some(_lock)) = RepositoryLock::try_acquire(&context.repo) else { return };
    progress::begin(Phase::Tidy, 0);
    if stale {
        pack_refs::clear_stale(&context.repo);
    }
    if many {
        let _ = merge_tiers(context);
    }
    if number.is_multiple_of(REFS) {
        let _ = pack_refs::pack(&context.repo);
    }
}

fn is_enough(names: &[String]) -> bool {
    let packs = names.iter().filter(|name| name.starts_with("pack-")).count();
    packs * LOOSE + (names.len() - packs) >= PACKS * LOOSE
}

fn merge_tiers(context: &mut Context) -> Result<(), super::Error> {
    let objects = ObjectFolder::of(&context.repo);
    for tier in 0..TIERS {
        let names = context.store.packs(tier)?;
        if !is_enough(&names) {
            break;
        }
        let merged = merge_packs(&objects, &names)?;
        if let Some(pack) = &merged.pack {
            context.store.note_pack(pack, tier + 1)?;
        }
        let gone: Vec<String> = merged.done.into_iter().filter(|name| merged.pack.as_ref() != Some(name)).collect();
        context.store.forget_packs(&gone)?;
    }
    Ok(())
}
