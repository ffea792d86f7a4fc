//! Times as ISO 8601 texts in UTC with milliseconds, the form in which JavaScript writes and reads a date.

const DAY_MS: u64 = 86_400_000;
/// Days from 0000-03-01 to 1970-01-01, and of four centuries.
const EPOCH_DAYS: u64 = 719_468;
const CENTURIES_DAYS: u64 = 146_097;

/// Epoch milliseconds as `2026-01-01T00:00:00.000Z`.
pub fn to_iso(at_ms: u64) -> String {
    let (day, ms) = (at_ms / DAY_MS, at_ms % DAY_MS);
    let (year, month, date) = civil(day);
    let (hour, minute) = (ms / 3_600_000, ms / 60_000 % 60);
    let (second, ms) = (ms / 1_000 % 60, ms % 1_000);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The epoch milliseconds of such a text; none for anything else, as a date that is not finite.
pub fn from_iso(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let day = days(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
    let ms = number(11, 13)? * 3_600_000 + number(14, 16)? * 60_000 + number(17, 19)? * 1_000 + number(20, 23)?;
    let at_ms = day * DAY_MS + ms;
    (to_iso(at_ms) == text).then_some(at_ms)
}

/// Year, month and day of a day since the epoch. Years begin in March, so that the leap day is their last.
fn civil(day: u64) -> (u64, u64, u64) {
    let day = day + EPOCH_DAYS;
    let (era, of_era) = (day / CENTURIES_DAYS, day % CENTURIES_DAYS);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let date = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + u64::from(month <= 2), month, date)
}

/// The day since the epoch; none before it and for numbers that no date has.
fn days(year: u64, month: u64, date: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&date) {
        return None;
    }
    let year = year.checked_sub(u64::from(month <= 2))?;
    let (era, of_era) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + date - 1;
    let day = era * CENTURIES_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    day.checked_sub(EPOCH_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_they_are_written() {
        for (at_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (1_767_225_840_007, "2026-01-01T00:04:00.007Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!(to_iso(at_ms), text);
            assert_eq!(from_iso(text), Some(at_ms));
        }
    }

    #[test]
    fn what_is_no_such_time_is_none() {
        for text in ["", "soon", "2026-13-01T00:00:00.000Z", "2025-02-29T00:00:00.000Z", "2026-01-01T00:00:00Z", "ä"] {
            assert_eq!(from_iso(text), None, "{text}");
        }
    }
}
