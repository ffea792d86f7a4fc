//! Seeds: the number a plan is drawn from, as people type it, and the entropy that is made of it.

use crate::bad_input::BadInput;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The number from which a scenario draws a plan.
///
/// People write it in decimal (`42`), hexadecimal (`0xff`) and with `_` between digits; it is stored as decimal text,
/// since JSON readers lose digits of numbers beyond 2^53.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

impl FromStr for Seed {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None => (text, 10),
        };
        let well_formed = digits.starts_with(|first: char| first.is_digit(radix))
            && !digits.ends_with('_')
            && digits.chars().all(|each| each == '_' || each.is_digit(radix));
        let refused = |problem: &str| {
            let shown: String = text.chars().take(40).collect();
            BadInput::new(format!("seed {shown:?}"), problem, "write it like 42, 0xff or 1_000_000")
        };
        if !well_formed {
            return Err(refused("not a number"));
        }
        let plain: String = digits.chars().filter(|each| *each != '_').collect();
        u64::from_str_radix(&plain, radix)
            .map(Seed)
            .map_err(|_| refused("larger than 18446744073709551615, the largest seed"))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// 256 bits from which every unpinned decision of a run is drawn; 64 hexadecimal digits in a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entropy(pub [u8; 32]);

impl Entropy {
    /// The entropy that a scenario's seed expands to; other scenarios get other entropy from the same seed.
    pub fn of(scenario: &str, seed: Seed) -> Self {
        Self(spread(scenario.as_bytes(), &seed.0.to_le_bytes()))
    }
}

/// Hashes two parts to 256 bits; the parts are kept apart by the length of the first.
pub(crate) fn spread(first: &[u8], second: &[u8]) -> [u8; 32] {
    let mut input = Vec::with_capacity(8 + first.len() + second.len());
    input.extend_from_slice(&(first.len() as u64).to_le_bytes());
    input.extend_from_slice(first);
    input.extend_from_slice(second);
    let mut out = [0; 32];
    out[..16].copy_from_slice(&xxh3_128_with_seed(&input, 0).to_le_bytes());
    out[16..].copy_from_slice(&xxh3_128_with_seed(&input, 1).to_le_bytes());
    out
}

impl fmt::Display for Entropy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Entropy({self})")
    }
}

impl Serialize for Entropy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Entropy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let refuse = || de::Error::custom("entropy must be 64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(refuse());
        }
        let mut out = [0; 32];
        for (index, byte) in out.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| refuse())?;
        }
        Ok(Self(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_in_decimal_hex_and_with_underscores() {
        for (text, number) in [
            ("42", 42),
            ("0x2A", 42),
            ("0X2a", 42),
            ("1_000_000", 1_000_000),
            ("0xffff_ffff", 0xffff_ffff),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse::<Seed>().map(|seed| seed.0), Ok(number), "{text}");
        }
    }

    #[test]
    fn what_is_no_seed_is_refused_with_a_sentence() {
        for text in ["", "_", "_1", "1_", "0x", "0x_1", "-1", "+1", "1.5", " 1", "x", "ff", "١"] {
            let refusal = text.parse::<Seed>().expect_err(text).to_string();
            assert!(refusal.contains("write it like 42"), "{refusal}");
        }
        let large = "18446744073709551616".parse::<Seed>().expect_err("too large");
        assert!(large.problem.contains("largest seed"));
    }

    #[test]
    fn entropy_differs_by_scenario_and_by_seed() {
        let base = Entropy::of("idle/a", Seed(1));
        assert_eq!(base, Entropy::of("idle/a", Seed(1)));
        assert_ne!(base, Entropy::of("idle/b", Seed(1)));
        assert_ne!(base, Entropy::of("idle/a", Seed(2)));
    }
}
