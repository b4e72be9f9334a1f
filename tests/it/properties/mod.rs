//! Properties that hold for every worktree, tried on random ones. `CHECKPOINT_ROUNDS` sets how many rounds (300 or 100 unless set),
//! `CHECKPOINT_SEED` where the chance starts (then one world unless rounds are set): a failure prints the seed that brings it
//! back.

mod model;
mod monitored;
mod restoring;
mod world;

use crate::support::{Belief, RepoState, rounds};
use world::{Tricks, World};

/// The worlds of a property: one for every ten rounds, each from a seed of its own.
fn seeds(salt: u64, usual: usize) -> impl Iterator<Item = u64> {
    let start = std::env::var("CHECKPOINT_SEED").ok().map(|seed| seed.parse().expect("CHECKPOINT_SEED is a number"));
    let usual = if start.is_some() { ROUNDS_IN_A_WORLD } else { usual };
    let worlds = rounds("CHECKPOINT_ROUNDS", usual).div_ceil(ROUNDS_IN_A_WORLD);
    let first = start.unwrap_or(salt);
    (0..u64::try_from(worlds).unwrap()).map(move |world| first + world)
}

/// Saves in one world, each after some changes: what the caches of one save know must not mislead the next.
const ROUNDS_IN_A_WORLD: usize = 10;

/// Moves in one repository of the model: it takes a while until there is much to go back to.
const MODEL_ROUNDS: usize = 100;

/// Whether saves know what the save before them saw (`checkpoint.statCache`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatCache {
    On,
    Off,
    /// On and off in turn, so that what was kept is older than the last save.
    Switched,
}

impl StatCache {
    fn is_on(self, round: usize) -> bool {
        match self {
            StatCache::On => true,
            StatCache::Off => false,
            StatCache::Switched => round.is_multiple_of(2),
        }
    }
}

fn the_tree_is_gits_and_nothing_is_touched(seed: u64, tricks: Tricks, cache: StatCache) {
    let mut world = World::new(seed, tricks);
    for round in 0..ROUNDS_IN_A_WORLD {
        let is_on = cache.is_on(round);
        world.tell(format!("round {round}, cache {}", if is_on { "on" } else { "off" }));
        world.change(8);
        let before = RepoState::of(&world.repo);

        let setting = format!("checkpoint.statCache={is_on}");
        let save = ["-c", &setting, "checkpoint", "save", "--quiet", "--allow-empty", "--name", "A"];
        world.repo.git(if is_on { &save[2..] } else { &save }).success();

        before.assert_same(&RepoState::of(&world.repo));
        // Where attributes change, git keeps what the index has of files that did not; so does a capture, unless it is to read
        // everything.
        let belief = if tricks == Tricks::Conversions && is_on { Belief::Usual } else { Belief::None };
        world.repo.assert_tree_is_gits_in("A", belief);
    }
    world.repo.assert_sound();
}

fn every_capture_is_gits(salt: u64, tricks: Tricks, cache: StatCache) {
    let usual = if cache == StatCache::On { 300 } else { 100 };
    for seed in seeds(salt, usual) {
        the_tree_is_gits_and_nothing_is_touched(seed, tricks, cache);
    }
}

#[test]
fn a_capture_is_what_git_would_record_and_touches_nothing() {
    every_capture_is_gits(1_000_000, Tricks::Unseen, StatCache::On);
}

#[test]
fn a_capture_without_the_cache_is_what_git_would_record_and_touches_nothing() {
    every_capture_is_gits(4_000_000, Tricks::Unseen, StatCache::Off);
}

#[test]
fn a_capture_after_one_without_the_cache_is_what_git_would_record_and_touches_nothing() {
    every_capture_is_gits(5_000_000, Tricks::Unseen, StatCache::Switched);
}

#[test]
fn a_capture_with_conversions_is_what_git_would_record_and_touches_nothing() {
    every_capture_is_gits(2_000_000, Tricks::Conversions, StatCache::On);
}

#[test]
fn a_capture_with_conversions_without_the_cache_is_what_git_would_record_and_touches_nothing() {
    every_capture_is_gits(6_000_000, Tricks::Conversions, StatCache::Off);
}

#[test]
fn a_capture_with_conversions_after_one_without_the_cache_is_what_git_would_record_and_touches_nothing() {
    every_capture_is_gits(7_000_000, Tricks::Conversions, StatCache::Switched);
}

#[test]
fn a_restore_brings_back_every_saved_state_and_undo_what_was_there() {
    for seed in seeds(3_000_000, 300) {
        restoring::any_saved_state_comes_back(seed);
    }
}

#[test]
fn saves_restores_undoes_redoes_and_edits_in_any_order_agree_with_maps_in_memory() {
    for seed in seeds(9_000_000, 300).step_by(MODEL_ROUNDS / ROUNDS_IN_A_WORLD) {
        model::agrees(seed, MODEL_ROUNDS);
    }
}

#[test]
fn a_capture_is_what_git_would_record_where_the_fsmonitor_daemon_names_what_changed() {
    for seed in seeds(8_000_000, 100) {
        let mut world = World::new(seed, Tricks::Unseen);
        world.change(8);
        let monitor = monitored::monitor(&world.repo, seed);
        // Few changes at a time: those of the index make a save look at everything.
        for round in 0..ROUNDS_IN_A_WORLD {
            world.tell(format!("round {round}"));
            world.change(2);
            if world.random.one_in(3) {
                world.repo.settle();
            }

            world.repo.save("A");

            world.repo.assert_tree_is_gits("A");
        }
        assert!(monitor.questions().len() >= ROUNDS_IN_A_WORLD);
        world.repo.assert_sound();
    }
}
