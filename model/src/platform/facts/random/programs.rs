//! Random programs of storage calls, waits, calls, sections, forks and failures.

use std::sync::Arc;

use super::Dice;

/// One step of a program; keys, objects, programs and promises by number, times in milliseconds.
#[derive(Debug)]
pub(super) enum Op {
    Get(u8),
    Put(u8),
    PutUnawaited(u8),
    Delete(u8),
    List,
    SetAlarm(u16),
    GetAlarm,
    DeleteAlarm,
    Sync,
    Hops(u8),
    Timer(u8),
    Callback(u8),
    Call(u8, u8),
    Section(Arc<[Op]>),
    Transaction(Arc<[Op]>),
    Spawn(Arc<[Op]>),
    Throw,
    Abort,
    Settle(u8),
    Wait(u8),
}

/// What a world does: its programs, who calls which, and the program of every alarm.
#[derive(Debug)]
pub(super) struct Plan {
    pub programs: Vec<Arc<[Op]>>,
    pub calls: Vec<(u8, u8)>,
    pub alarm: u64,
    pub ends_isolates: bool,
}

impl Plan {
    /// The plan of a seed. A program calls later ones only. Worlds with shared promises have no transactions: a promise
    /// could let another handler write into an open one.
    pub fn draw(seed: u64) -> Plan {
        let dice = Dice::new(seed ^ 0xabcd);
        let transactions = dice.below(2) == 0;
        let count = 3 + dice.below(5);
        let programs: Vec<Arc<[Op]>> = (0..count).map(|index| draw_program(&dice, index, 0, transactions)).collect();
        let calls = (0..4 + dice.below(10)).map(|_| (small(&dice, 3), small(&dice, count))).collect();
        Plan { programs, calls, alarm: dice.below(count), ends_isolates: dice.below(3) == 0 }
    }
}

fn small(dice: &Dice, below: u64) -> u8 {
    u8::try_from(dice.below(below)).unwrap_or(0)
}

fn draw_program(dice: &Dice, index: u64, depth: u32, transactions: bool) -> Arc<[Op]> {
    let length = if depth == 0 { 1 + dice.below(7) } else { 1 + dice.below(3) };
    (0..length).map(|_| draw_operation(dice, index, depth, transactions)).collect()
}

fn draw_operation(dice: &Dice, index: u64, depth: u32, transactions: bool) -> Op {
    let inside = |dice: &Dice| draw_program(dice, index, depth + 1, transactions && depth == 0);
    match dice.below(40) {
        0..=2 => Op::Get(small(dice, 3)),
        3..=6 => Op::Put(small(dice, 3)),
        7 => Op::PutUnawaited(small(dice, 3)),
        8 | 9 => Op::Delete(small(dice, 3)),
        10 => Op::List,
        11..=13 => Op::SetAlarm(u16::try_from(dice.below(400)).unwrap_or(0)),
        14 => Op::GetAlarm,
        15 => Op::DeleteAlarm,
        16 | 17 => Op::Sync,
        18 | 19 => Op::Hops(small(dice, 5)),
        20..=22 => Op::Timer(small(dice, 60)),
        23 | 24 => Op::Callback(small(dice, 90)),
        25..=28 => Op::Call(small(dice, 3), u8::try_from(index).unwrap_or(0) + 1 + small(dice, 3)),
        29..=31 if depth < 3 => Op::Section(inside(dice)),
        32 | 33 if depth < 1 && transactions => Op::Transaction(inside(dice)),
        34 | 35 if depth < 3 => Op::Spawn(inside(dice)),
        36 if dice.below(4) == 0 => Op::Throw,
        37 if dice.below(6) == 0 => Op::Abort,
        38 if !transactions => Op::Settle(small(dice, 2)),
        39 if !transactions => Op::Wait(small(dice, 2)),
        _ => Op::Hops(1),
    }
}
