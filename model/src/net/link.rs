//! One end of a connection as the network sees it: bytes with due times, in both directions.
//!
//! Times are whole milliseconds. Whatever one end writes within a millisecond travels together and leaves at
//! the next one, plus what the client's link draws; the simulated network adds one more. So a calm one-way
//! trip takes two milliseconds, the order in which tasks ran within a millisecond does not show, and every
//! trip begins on the grid again however far the simulated clock crept in between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use bytes::{Buf, Bytes, BytesMut};

use super::stalls;
use crate::rt;

/// Milliseconds until written bytes leave; 0 on real sockets, where nothing is to be evened out.
const DEPARTURE_MS: u64 = if cfg!(madsim) { 1 } else { 0 };
/// Milliseconds that the end of a stream travels; the simulated network closes in no time.
const END_TRAVEL_MS: u64 = if cfg!(madsim) { 1 } else { 0 };
/// Bytes that may wait for the reader before the socket is left alone.
const READ_AHEAD_MAX: usize = 256 * 1024;

/// What is the matter with a connection. The adapter asks here at each packet; a fault is a variant.
///
/// Planned: a connect that hangs, a half-open peer, silence, a slow reader, a cut in the middle of a chunk,
/// a late close.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkCondition {
    /// Nothing: bytes arrive in order after their latency.
    #[default]
    Clear,
}

/// Names under which the client's end of a connection draws its latency.
#[derive(Debug)]
pub struct Lane {
    label: Arc<str>,
    up: String,
    down: String,
}

impl Lane {
    /// The lane `name` of the client `label`: draws `net.up:<name>` and `net.down:<name>`.
    ///
    /// Two connections of one client need two names, or the order of two draws within one millisecond
    /// would be the scheduler's.
    pub fn new(label: &Arc<str>, name: &str) -> Lane {
        Lane { label: Arc::clone(label), up: format!("net.up:{name}"), down: format!("net.down:{name}") }
    }
}

/// Bytes of one millisecond.
struct Packet {
    due_ms: u64,
    bytes: BytesMut,
}

/// When something handled at `made_ms` is due.
#[derive(Clone, Copy)]
struct Stamp {
    made_ms: u64,
    due_ms: u64,
}

/// One direction: what is on its way, in order.
#[derive(Default)]
struct Flow {
    packets: VecDeque<Packet>,
    last: Option<Stamp>,
    end_due_ms: Option<u64>,
}

impl Flow {
    /// Due time of what is handled now. One draw for each millisecond; never before what went ahead.
    fn stamp(&mut self, base_ms: u64, draw_ms: impl FnOnce() -> u64) -> u64 {
        let now_ms = rt::now_ms();
        if let Some(last) = self.last
            && last.made_ms == now_ms
        {
            return last.due_ms;
        }
        let after_ms = self.last.map_or(0, |last| last.due_ms);
        let due_ms = (now_ms + base_ms + draw_ms()).max(after_ms);
        self.last = Some(Stamp { made_ms: now_ms, due_ms });
        due_ms
    }

    fn push(&mut self, due_ms: u64, bytes: &[u8]) {
        match self.packets.back_mut() {
            Some(last) if last.due_ms == due_ms => last.bytes.extend_from_slice(bytes),
            _ => self.packets.push_back(Packet { due_ms, bytes: BytesMut::from(bytes) }),
        }
    }

    fn take_due(&mut self, now_ms: u64) -> Option<Bytes> {
        let due = self.packets.front().is_some_and(|packet| packet.due_ms <= now_ms);
        if due { self.packets.pop_front().map(|packet| packet.bytes.freeze()) } else { None }
    }

    fn ended(&self, now_ms: u64) -> bool {
        self.packets.is_empty() && self.end_due_ms.is_some_and(|due_ms| due_ms <= now_ms)
    }

    fn next_due_ms(&self, now_ms: u64) -> Option<u64> {
        let packet = self.packets.front().map(|packet| packet.due_ms);
        packet.or(self.end_due_ms.filter(|due_ms| *due_ms > now_ms))
    }
}

/// State of one end, shared by the protocol above and the pump below.
pub(super) struct Link {
    lane: Option<Lane>,
    condition: LinkCondition,
    outbound: Flow,
    inbound: Flow,
    readable: Bytes,
    peer_ended: bool,
    broken: bool,
    abandoned: bool,
    /// The protocol did something since the pump last looked.
    touched: bool,
    driver: Option<Waker>,
    /// The client at the other end, if this is a server's.
    peer: Option<Arc<str>>,
    /// When the client's stall ends, and how many bytes it was sent in it.
    stalled: (u64, usize),
    /// The protocol waits until then for room.
    room_due_ms: Option<u64>,
}

impl Link {
    /// One end of a connection; only the client's end has a lane.
    pub(super) fn new(lane: Option<Lane>) -> Link {
        Link {
            lane,
            condition: LinkCondition::Clear,
            outbound: Flow::default(),
            inbound: Flow::default(),
            readable: Bytes::new(),
            peer_ended: false,
            broken: false,
            abandoned: false,
            touched: false,
            driver: None,
            peer: None,
            stalled: (0, 0),
            room_due_ms: None,
        }
    }

    /// The client at the other end, whose stalls this end notices.
    pub(super) fn set_peer(&mut self, label: Arc<str>) {
        self.peer = Some(label);
    }

    /// Whether bytes can be written; if not, the protocol is asked again once the client reads.
    pub(super) fn has_room(&mut self, bytes: usize) -> bool {
        let Some(stall) = self.peer.as_deref().and_then(stalls::noticed) else { return true };
        if self.stalled.0 != stall.until_ms {
            self.stalled = (stall.until_ms, 0);
        }
        let has_room = self.stalled.1 < stalls::WINDOW_BYTES;
        if has_room {
            self.stalled.1 += bytes;
        } else {
            self.room_due_ms = Some(stall.until_ms);
        }
        has_room
    }

    /// The protocol wrote: the bytes leave with all others of this millisecond.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        match self.condition {
            LinkCondition::Clear => {
                let due_ms = stamp_up(&mut self.outbound, self.lane.as_ref());
                self.outbound.push(due_ms, bytes);
            }
        }
        self.touched = true;
    }

    /// The protocol is gone: the end follows what was written.
    pub(super) fn close(&mut self) {
        if self.outbound.end_due_ms.is_none() {
            let due_ms = stamp_up(&mut self.outbound, self.lane.as_ref());
            self.outbound.end_due_ms = Some(due_ms);
        }
    }

    /// Bytes that leave now.
    pub(super) fn take_departure(&mut self, now_ms: u64) -> Option<Bytes> {
        self.outbound.take_due(now_ms)
    }

    /// The peer takes nothing any more: what waits is lost, and writes fail.
    pub(super) fn break_off(&mut self) {
        self.broken = true;
        self.outbound.packets.clear();
    }

    /// True when writes fail.
    pub(super) fn broken(&self) -> bool {
        self.broken
    }

    /// True when the protocol is to be dropped at once.
    pub(super) fn abandoned(&self) -> bool {
        self.abandoned
    }

    /// True when everything written has left and the end is due.
    pub(super) fn departed(&self, now_ms: u64) -> bool {
        self.broken || self.outbound.ended(now_ms)
    }

    /// Bytes came from the network.
    pub(super) fn arrive(&mut self, bytes: &[u8]) {
        let lane = self.lane.as_ref();
        let due_ms = self.inbound.stamp(0, || draw(lane, |lane| &lane.down));
        self.inbound.push(due_ms, bytes);
    }

    /// The peer closed, or its end of the connection died.
    pub(super) fn arrive_end(&mut self) {
        if self.inbound.end_due_ms.is_none() {
            let lane = self.lane.as_ref();
            let due_ms = self.inbound.stamp(END_TRAVEL_MS, || draw(lane, |lane| &lane.down));
            self.inbound.end_due_ms = Some(due_ms);
        }
    }

    /// True while the socket should be read.
    pub(super) fn wants_arrivals(&self) -> bool {
        let waiting: usize = self.inbound.packets.iter().map(|packet| packet.bytes.len()).sum();
        self.inbound.end_due_ms.is_none() && waiting < READ_AHEAD_MAX
    }

    /// Hands what is due to the protocol; true if there was something new.
    pub(super) fn deliver(&mut self, now_ms: u64) -> bool {
        let mut news = self.room_due_ms.is_some_and(|due_ms| due_ms <= now_ms);
        if news {
            self.room_due_ms = None;
        }
        if self.readable.is_empty()
            && let Some(bytes) = self.inbound.take_due(now_ms)
        {
            self.readable = bytes;
            news = true;
        }
        if self.readable.is_empty() && !self.peer_ended && self.inbound.ended(now_ms) {
            self.peer_ended = true;
            news = true;
        }
        news
    }

    /// Takes up to `room` bytes that were delivered; `None` when the protocol has to wait, empty at the end.
    pub(super) fn read(&mut self, room: usize) -> Option<Bytes> {
        if !self.readable.is_empty() {
            self.touched = true;
            let length = self.readable.len().min(room);
            let bytes = self.readable.slice(..length);
            self.readable.advance(length);
            return Some(bytes);
        }
        self.peer_ended.then(Bytes::new)
    }

    /// When the pump has to look again by itself. `sending`: the socket has not taken all that is due yet.
    pub(super) fn next_due_ms(&self, now_ms: u64, sending: bool) -> Option<u64> {
        let inbound = if self.readable.is_empty() { self.inbound.next_due_ms(now_ms) } else { None };
        let outbound = if sending { None } else { self.outbound.next_due_ms(now_ms) };
        [outbound, inbound, self.room_due_ms].into_iter().flatten().min()
    }

    /// True once after each time the protocol read or wrote.
    pub(super) fn take_touched(&mut self) -> bool {
        std::mem::take(&mut self.touched)
    }

    /// Remembers whom to wake when somebody outside abandons the connection.
    pub(super) fn driven_by(&mut self, waker: &Waker) {
        if !self.driver.as_ref().is_some_and(|driver| driver.will_wake(waker)) {
            self.driver = Some(waker.clone());
        }
    }

    /// Drops the protocol at the driver's next turn; what was written still leaves.
    pub(super) fn abandon(&mut self) {
        self.abandoned = true;
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

fn stamp_up(outbound: &mut Flow, lane: Option<&Lane>) -> u64 {
    outbound.stamp(DEPARTURE_MS, || draw(lane, |lane| &lane.up))
}

fn draw(lane: Option<&Lane>, what: impl FnOnce(&Lane) -> &String) -> u64 {
    lane.map_or(0, |lane| rt::decide_delay(&lane.label, what(lane)))
}
