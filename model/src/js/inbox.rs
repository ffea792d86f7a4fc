//! The part of a loop that others may touch: mail with a due time, from other loops and from HTTP.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use super::context::{IoContext, SectionId};
use super::event_loop::{EventLoop, Lane};
use crate::rt::{self, Alarm};

/// A message to a loop. It crosses threads, so it carries only `Send` data.
pub trait Letter: Send {
    /// The context that it comes in to and the section it belongs to, if that context exists now.
    fn context(&self, event_loop: &EventLoop) -> Option<(Rc<IoContext>, SectionId)>;
    /// Called before it is opened: makes the object it is for, whose constructor may shut the gate (platform fact 37).
    fn prepare(&self, _: &Rc<EventLoop>) {}
    /// Opens it: runs the event.
    fn open(self: Box<Self>, event_loop: &Rc<EventLoop>);
    /// Called instead of `open` when its context died while it waited at the gate.
    fn bounce(self: Box<Self>, event_loop: &Rc<EventLoop>);
    /// True for mail of the platform itself, which passes a shut gate.
    fn passes_gates(&self) -> bool {
        false
    }
}

pub(super) struct Posted {
    pub due_ms: u64,
    pub lane: Lane,
    pub letter: Box<dyn Letter>,
}

/// The inbox of one loop.
#[derive(Default)]
pub struct Inbox {
    mail: Mutex<Vec<Posted>>,
    bell: Mutex<Bell>,
    dead: AtomicBool,
}

/// Who looks into the inbox, and when.
#[derive(Default)]
struct Bell {
    waker: Option<Waker>,
    alarm: Alarm,
}

impl Inbox {
    /// An empty inbox.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Posts a letter that is due at `due_ms` (epoch): the loop looks into the inbox then, and need not before. A dead
    /// loop loses it; the answer is false then.
    pub fn post(&self, due_ms: u64, lane: Lane, letter: Box<dyn Letter>) -> bool {
        if self.dead.load(Ordering::Relaxed) {
            return false;
        }
        lock(&self.mail).push(Posted { due_ms, lane, letter });
        self.look_at(due_ms);
        true
    }

    /// Sees to it that the loop runs at `due_ms`. One that has not begun yet looks around when it does.
    pub(super) fn look_at(&self, due_ms: u64) {
        let mut bell = lock(&self.bell);
        let Bell { waker: Some(waker), alarm } = &mut *bell else { return };
        if !rt::is_running() || alarm.poll_until(due_ms, &mut Context::from_waker(waker)).is_ready() {
            waker.wake_by_ref();
        }
    }

    /// Marks the loop as ended; mail is lost from now on. Called before its node is killed.
    pub fn close(&self) {
        self.dead.store(true, Ordering::Relaxed);
        lock(&self.mail).clear();
    }

    /// True after [`Inbox::close`].
    pub fn is_closed(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self) -> Vec<Posted> {
        std::mem::take(&mut *lock(&self.mail))
    }

    pub(super) fn set_waker(&self, waker: &Waker) {
        let slot = &mut lock(&self.bell).waker;
        if !slot.as_ref().is_some_and(|old| old.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
