//! Named random streams: ChaCha8 keyed by entropy and a name, sampled with integer arithmetic of our own.
//!
//! A draw in one stream never shifts another, so a generator can grow without changing what old seeds mean elsewhere.

use crate::seed::{Entropy, spread};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// One random stream.
#[derive(Clone)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream of that name.
    pub fn named(entropy: &Entropy, name: &str) -> Self {
        Self(ChaCha8Rng::from_seed(spread(&entropy.0, name.as_bytes())))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..below`, by multiply and shift: one draw, and a bias below `below / 2^64`, far under anything
    /// that a campaign could notice.
    ///
    /// # Panics
    /// If `below` is 0, since there is no such number.
    pub fn below(&mut self, below: u64) -> u64 {
        assert!(below > 0, "there is no number below 0 to draw");
        ((u128::from(self.next_u64()) * u128::from(below)) >> 64) as u64
    }

    /// A number in `least..=most`.
    ///
    /// # Panics
    /// If the range is empty or all of u64.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        assert!(least <= most, "an empty range has no number to draw");
        least + self.below(most - least + 1)
    }

    /// True in `numerator` of `denominator` cases.
    pub fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// One of the items, each as likely.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// One of the names, each as likely.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick_name(&mut self, names: &[&'static str]) -> &'static str {
        names[self.below(names.len() as u64) as usize]
    }

    /// One of the items, each as likely as its weight says.
    ///
    /// # Panics
    /// If all weights are 0.
    pub fn pick_weighted<'a, T>(&mut self, items: &'a [(u64, T)]) -> &'a T {
        let total = items.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, item) in items {
            if left < *weight {
                return item;
            }
            left -= weight;
        }
        unreachable!("a number below the sum of the weights falls to one of them")
    }

    /// Puts the items in a random order (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn stream(name: &str) -> Rng {
        Rng::named(&Entropy::of("test", Seed(1)), name)
    }

    #[test]
    fn the_stream_of_a_name_is_the_same_for_ever() {
        let draws: Vec<u64> = {
            let mut rng = stream("a");
            (0..3).map(|_| rng.below(1_000_000)).collect()
        };
        // A change here changes what every seed means.
        assert_eq!(draws, [952_818, 505_454, 731_995]);
    }

    #[test]
    fn streams_of_different_names_are_independent() {
        let mut one = stream("a");
        let mut other = stream("b");
        assert_ne!(one.next_u64(), other.next_u64());
    }

    #[test]
    fn draws_cover_their_range_and_nothing_else() {
        let mut rng = stream("range");
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
        assert!((0..100).all(|_| (3..=5).contains(&rng.between(3, 5))));
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn an_item_without_weight_is_never_picked() {
        let mut rng = stream("weights");
        let items = [(0, 'a'), (3, 'b'), (0, 'c'), (1, 'd')];
        let picks: String = (0..200).map(|_| *rng.pick_weighted(&items)).collect();
        assert!(picks.contains('b') && picks.contains('d'));
        assert!(!picks.contains('a') && !picks.contains('c'));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        stream("shuffle").shuffle(&mut items);
        let shuffled = items.clone();
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
        assert_ne!(items, shuffled);
    }
}
