//! Which seeds a campaign runs: typed, counted, or known by the folder that is gone on with.

use super::Args;
use crate::campaign::folder;
use crate::cli::args::SeedRange;
use crate::error::Error;
use crate::files;
use scenarios::seed::Seed;

/// The seeds of the campaign in the folder that is gone on with, where nothing else says which.
pub(super) fn gone_on_with(args: &Args) -> Result<Option<SeedRange>, Error> {
    if !args.resume || args.seeds.is_some() {
        return Ok(None);
    }
    let Some(folder) = &args.out else {
        return Err(Error::usage(
            "--resume: nothing says which campaign: name its folder with `--out`, or its `--seeds`",
        ));
    };
    let known = folder::recorded_options(folder)?.ok_or_else(|| {
        let folder = files::shown(folder);
        Error::usage(format!(
            "--resume: there is no campaign in {folder} to go on with: say with which `--seeds` to begin"
        ))
    })?;
    Ok(Some(SeedRange { from: known.from, to: known.to, includes_to: known.includes_to }))
}

/// So many of the seeds.
pub(super) fn counted_from(seeds: SeedRange, runs: u64) -> Result<SeedRange, Error> {
    let SeedRange { from, to, includes_to } = seeds;
    let available = match to {
        Some(to) => (to.0 - from.0).saturating_add(u64::from(includes_to)),
        None => u64::MAX - from.0,
    };
    if runs > available {
        let noun = if available == 1 { "seed is" } else { "seeds are" };
        return Err(Error::usage(format!(
            "--runs {runs}: only {available} {noun} there from {from} on: take fewer, or a range with more"
        )));
    }
    if runs == available && to.is_some() {
        return Ok(seeds);
    }
    Ok(SeedRange { from, to: Some(Seed(from.0 + runs)), includes_to: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u64, to: Option<u64>, includes_to: bool) -> SeedRange {
        SeedRange { from: Seed(from), to: to.map(Seed), includes_to }
    }

    #[test]
    fn so_many_seeds_are_taken_as_there_are_and_no_fewer() {
        assert_eq!(counted_from(range(3, None, false), 4), Ok(range(3, Some(7), false)));
        assert_eq!(counted_from(range(3, Some(9), false), 4), Ok(range(3, Some(7), false)));
        assert_eq!(counted_from(range(0, Some(3), false), 3), Ok(range(0, Some(3), false)));
        let largest = range(u64::MAX - 1, Some(u64::MAX), true);
        assert_eq!(counted_from(largest, 2), Ok(largest));
        assert_eq!(counted_from(largest, 1), Ok(range(u64::MAX - 1, Some(u64::MAX), false)));
        for (seeds, runs, told) in [
            (range(0, Some(3), false), 10, "--runs 10: only 3 seeds are there from 0 on"),
            (largest, 3, "--runs 3: only 2 seeds are there"),
            (range(u64::MAX - 1, None, false), 2, "--runs 2: only 1 seed is there"),
        ] {
            let refusal = counted_from(seeds, runs).expect_err("too many").to_string();
            assert!(refusal.starts_with(told), "{refusal}");
        }
    }
}
