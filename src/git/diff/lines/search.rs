//! The search for the shortest edit script, as described by E. W. Myers ("An O(ND) Difference Algorithm and Its Variations",
//! 1986, linear space variant), with git's ways of giving up early on large and very different inputs.
//!
//! The two texts span a grid; a point is a pair of positions. A path from the upper left to the lower right corner steps right
//! (a line is removed), down (a line is added) or diagonally (both lines are equal). Paths grow from both corners at once, by
//! one non-diagonal step in every round; where the two meet, the box is split, and both halves are searched the same way.

use super::prune::power_of_two_root;

/// One text: the lines that take part, and the marks of all its lines.
pub struct Lines<'a> {
    /// Tokens of the lines that take part.
    pub tokens: &'a [u32],
    /// The number of each of those lines in the text.
    pub numbers: &'a [u32],
    /// Set for each line that the search finds to be changed.
    pub changed: &'a mut [bool],
}

/// Rounds after which a long diagonal may end the search of a box.
const PATIENCE: i32 = 256;
/// The least number of rounds after which the search of a box is given up.
const LEAST_LIMIT: u32 = 256;
/// A diagonal of this length is a sign of a good path.
const LONG_DIAGONAL: i32 = 20;
/// How much further than the number of rounds a good path must have come.
const GOOD_PROGRESS: i32 = 4;

/// Marks the changed lines of both texts.
pub fn search(old: Lines<'_>, new: Lines<'_>) {
    let mut search = Search::new(old.tokens, new.tokens);
    let whole = Area { left: 0, right: size(old.tokens), top: 0, bottom: size(new.tokens), thorough: false };
    let mut areas = vec![whole];
    while let Some(mut area) = areas.pop() {
        search.shrink(&mut area);
        if area.left == area.right {
            for &number in &new.numbers[area.top as usize..area.bottom as usize] {
                new.changed[number as usize] = true;
            }
        } else if area.top == area.bottom {
            for &number in &old.numbers[area.left as usize..area.right as usize] {
                old.changed[number as usize] = true;
            }
        } else {
            let split = search.split(&area);
            areas.push(Area { left: split.x, top: split.y, thorough: split.thorough_after, ..area });
            areas.push(Area { right: split.x, bottom: split.y, thorough: split.thorough_before, ..area });
        }
    }
}

fn size(tokens: &[u32]) -> i32 {
    i32::try_from(tokens.len()).expect("a text that is compared line by line has less than 2^31 lines")
}

/// A box in the grid.
#[derive(Clone, Copy)]
struct Area {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    /// The search of this box must not be cut short.
    thorough: bool,
}

/// Where a box is split, and which of the halves have to be searched thoroughly.
struct Split {
    x: i32,
    y: i32,
    thorough_before: bool,
    thorough_after: bool,
}

/// The diagonals that the paths of one direction have reached: `low..=high`, every other one.
#[derive(Clone, Copy)]
struct Front {
    low: i32,
    high: i32,
    /// The diagonal of the corner where the paths began.
    start: i32,
}

impl Front {
    fn at(diagonal: i32) -> Self {
        Front { low: diagonal, high: diagonal, start: diagonal }
    }

    fn contains(&self, diagonal: i32) -> bool {
        self.low <= diagonal && diagonal <= self.high
    }

    fn diagonals(self) -> impl Iterator<Item = i32> {
        (self.low..=self.high).rev().step_by(2)
    }
}

/// What one round of one direction came to.
enum Round {
    /// The paths have met here.
    Met(i32, i32),
    /// They have not; true if a long diagonal was found.
    Grown(bool),
}

struct Search<'a> {
    old: &'a [u32],
    new: &'a [u32],
    /// The furthest x reached on each diagonal `x - y` from the upper left, at `diagonal + offset`.
    forward: Vec<i32>,
    /// The same from the lower right.
    backward: Vec<i32>,
    offset: i32,
    /// Rounds after which the search of a box is given up.
    limit: i32,
}

impl<'a> Search<'a> {
    fn new(old: &'a [u32], new: &'a [u32]) -> Self {
        let diagonals = old.len() + new.len() + 3;
        Search {
            old,
            new,
            forward: vec![0; diagonals],
            backward: vec![0; diagonals],
            offset: size(new) + 1,
            limit: power_of_two_root(diagonals).max(LEAST_LIMIT).cast_signed(),
        }
    }

    /// Takes equal lines off both ends of the box.
    fn shrink(&self, area: &mut Area) {
        let (old, new) = (self.old, self.new);
        while area.left < area.right && area.top < area.bottom && old[area.left as usize] == new[area.top as usize] {
            area.left += 1;
            area.top += 1;
        }
        while area.left < area.right && area.top < area.bottom && old[area.right as usize - 1] == new[area.bottom as usize - 1] {
            area.right -= 1;
            area.bottom -= 1;
        }
    }

    fn split(&mut self, area: &Area) -> Split {
        let mut ahead = Front::at(area.left - area.top);
        let mut behind = Front::at(area.right - area.bottom);
        let odd = (ahead.start - behind.start) & 1 != 0;
        self.set_forward(ahead.start, area.left);
        self.set_backward(behind.start, area.right);
        let mut round = 0;
        loop {
            round += 1;
            let mut long = false;
            match self.grow_forward(area, &mut ahead, odd.then_some(&behind)) {
                Round::Met(x, y) => return Split { x, y, thorough_before: true, thorough_after: true },
                Round::Grown(found) => long |= found,
            }
            match self.grow_backward(area, &mut behind, (!odd).then_some(&ahead)) {
                Round::Met(x, y) => return Split { x, y, thorough_before: true, thorough_after: true },
                Round::Grown(found) => long |= found,
            }
            if area.thorough {
                continue;
            }
            if long && round > PATIENCE {
                if let Some((x, y)) = self.good_forward(area, ahead, round) {
                    return Split { x, y, thorough_before: true, thorough_after: false };
                }
                if let Some((x, y)) = self.good_backward(area, behind, round) {
                    return Split { x, y, thorough_before: false, thorough_after: true };
                }
            }
            if round >= self.limit {
                return self.give_up(area, ahead, behind);
            }
        }
    }

    /// Lets every path from the upper left take one step and then follow the diagonal.
    fn grow_forward(&mut self, area: &Area, front: &mut Front, other: Option<&Front>) -> Round {
        let (lowest, highest) = (area.left - area.bottom, area.right - area.top);
        // At the border of the box the front cannot widen, and must narrow to keep to every other diagonal.
        if front.low > lowest {
            front.low -= 1;
            self.set_forward(front.low - 1, -1);
        } else {
            front.low += 1;
        }
        if front.high < highest {
            front.high += 1;
            self.set_forward(front.high + 1, -1);
        } else {
            front.high -= 1;
        }
        let mut long = false;
        for diagonal in front.diagonals() {
            let (below, above) = (self.forward_x(diagonal - 1), self.forward_x(diagonal + 1));
            let from = if below >= above { below + 1 } else { above };
            let (mut x, mut y) = (from, from - diagonal);
            while x < area.right && y < area.bottom && self.old[x as usize] == self.new[y as usize] {
                x += 1;
                y += 1;
            }
            long |= x - from > LONG_DIAGONAL;
            self.set_forward(diagonal, x);
            if other.is_some_and(|other| other.contains(diagonal) && self.backward_x(diagonal) <= x) {
                return Round::Met(x, y);
            }
        }
        Round::Grown(long)
    }

    /// Lets every path from the lower right take one step and then follow the diagonal.
    fn grow_backward(&mut self, area: &Area, front: &mut Front, other: Option<&Front>) -> Round {
        let (lowest, highest) = (area.left - area.bottom, area.right - area.top);
        if front.low > lowest {
            front.low -= 1;
            self.set_backward(front.low - 1, i32::MAX);
        } else {
            front.low += 1;
        }
        if front.high < highest {
            front.high += 1;
            self.set_backward(front.high + 1, i32::MAX);
        } else {
            front.high -= 1;
        }
        let mut long = false;
        for diagonal in front.diagonals() {
            let (below, above) = (self.backward_x(diagonal - 1), self.backward_x(diagonal + 1));
            let from = if below < above { below } else { above - 1 };
            let (mut x, mut y) = (from, from - diagonal);
            while x > area.left && y > area.top && self.old[x as usize - 1] == self.new[y as usize - 1] {
                x -= 1;
                y -= 1;
            }
            long |= from - x > LONG_DIAGONAL;
            self.set_backward(diagonal, x);
            if other.is_some_and(|other| other.contains(diagonal) && x <= self.forward_x(diagonal)) {
                return Round::Met(x, y);
            }
        }
        Round::Grown(long)
    }

    /// The path from the upper left that has come furthest and ends in a long diagonal, if it has come far enough.
    fn good_forward(&self, area: &Area, front: Front, round: i32) -> Option<(i32, i32)> {
        let mut best = (0, None);
        for diagonal in front.diagonals() {
            let x = self.forward_x(diagonal);
            let y = x - diagonal;
            let progress = (x - area.left) + (y - area.top) - (diagonal - front.start).abs();
            let inside = area.left + LONG_DIAGONAL <= x && x < area.right && area.top + LONG_DIAGONAL <= y && y < area.bottom;
            if progress > GOOD_PROGRESS * round && progress > best.0 && inside {
                let lines = |tokens: &'a [u32], end: i32| &tokens[(end - LONG_DIAGONAL) as usize..end as usize];
                if lines(self.old, x) == lines(self.new, y) {
                    best = (progress, Some((x, y)));
                }
            }
        }
        best.1
    }

    /// The same for the paths from the lower right.
    fn good_backward(&self, area: &Area, front: Front, round: i32) -> Option<(i32, i32)> {
        let mut best = (0, None);
        for diagonal in front.diagonals() {
            let x = self.backward_x(diagonal);
            let y = x.wrapping_sub(diagonal);
            let inside = area.left < x && x <= area.right - LONG_DIAGONAL && area.top < y && y <= area.bottom - LONG_DIAGONAL;
            if !inside {
                continue;
            }
            let progress = (area.right - x) + (area.bottom - y) - (diagonal - front.start).abs();
            if progress > GOOD_PROGRESS * round && progress > best.0 {
                let lines = |tokens: &'a [u32], start: i32| &tokens[start as usize..(start + LONG_DIAGONAL) as usize];
                if lines(self.old, x) == lines(self.new, y) {
                    best = (progress, Some((x, y)));
                }
            }
        }
        best.1
    }

    /// Splits the box where the paths of either direction have come furthest.
    fn give_up(&self, area: &Area, ahead: Front, behind: Front) -> Split {
        let mut furthest = (-1, -1);
        for diagonal in ahead.diagonals() {
            let mut x = self.forward_x(diagonal).min(area.right);
            let mut y = x - diagonal;
            if y > area.bottom {
                (x, y) = (area.bottom + diagonal, area.bottom);
            }
            if furthest.0 < x + y {
                furthest = (x + y, x);
            }
        }
        let mut nearest = (i32::MAX, i32::MAX);
        for diagonal in behind.diagonals() {
            let mut x = self.backward_x(diagonal).max(area.left);
            let mut y = x.wrapping_sub(diagonal);
            if y < area.top {
                (x, y) = (area.top + diagonal, area.top);
            }
            if x.wrapping_add(y) < nearest.0 {
                nearest = (x + y, x);
            }
        }
        if (area.right + area.bottom) - nearest.0 < furthest.0 - (area.left + area.top) {
            Split { x: furthest.1, y: furthest.0 - furthest.1, thorough_before: true, thorough_after: false }
        } else {
            Split { x: nearest.1, y: nearest.0 - nearest.1, thorough_before: false, thorough_after: true }
        }
    }

    fn forward_x(&self, diagonal: i32) -> i32 {
        self.forward[(diagonal + self.offset) as usize]
    }

    fn set_forward(&mut self, diagonal: i32, x: i32) {
        self.forward[(diagonal + self.offset) as usize] = x;
    }

    fn backward_x(&self, diagonal: i32) -> i32 {
        self.backward[(diagonal + self.offset) as usize]
    }

    fn set_backward(&mut self, diagonal: i32, x: i32) {
        self.backward[(diagonal + self.offset) as usize] = x;
    }
}
