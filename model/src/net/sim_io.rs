//! The one adapter between hyper and a TCP connection, simulated or real.
//!
//! [`SimIo`] is what hyper reads and writes; it never touches the socket. [`Drive`] is the future that owns
//! both: it moves bytes between the [`Link`](super::link) and the socket at their due times and polls the
//! protocol. The simulated stream sends a packet for every flush, an empty one too, and the packet would wake the
//! peer, which flushes in turn, for ever; here the socket is flushed only after bytes were written.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use bytes::{Buf, Bytes};
use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::link::{Lane, Link};
use crate::rt::{self, Alarm};

/// Bytes taken from a socket at a time.
const READ_CHUNK: usize = 4096;

/// What hyper reads and writes: one end of a connection whose latency the link owns.
pub struct SimIo {
    link: Rc<RefCell<Link>>,
}

/// The bottom half of a connection: the socket, and what is due on it.
pub struct Pump {
    socket: TcpStream,
    link: Rc<RefCell<Link>>,
    departing: Bytes,
    dirty: bool,
    alarm: Alarm,
    /// The socket has nothing now and wakes the task when it has: it is not asked again in the same poll.
    is_drained: bool,
}

/// Ends a connection from outside.
#[derive(Clone)]
pub struct Closer {
    link: Rc<RefCell<Link>>,
}

impl Closer {
    /// Drops the protocol at once; what was written still leaves, then the connection closes.
    pub fn close(&self) {
        self.link.borrow_mut().abandon();
    }

    /// The client at the other end, whose stalls this end notices.
    pub fn set_peer(&self, label: Arc<str>) {
        self.link.borrow_mut().set_peer(label);
    }
}

/// Puts the adapter over a connected socket. The client's end passes the lane that draws its latency.
pub fn adapt(socket: TcpStream, lane: Option<Lane>) -> (SimIo, Pump, Closer) {
    let link = Rc::new(RefCell::new(Link::new(lane)));
    let pump = Pump {
        socket,
        link: Rc::clone(&link),
        departing: Bytes::new(),
        dirty: false,
        alarm: Alarm::default(),
        is_drained: false,
    };
    (SimIo { link: Rc::clone(&link) }, pump, Closer { link })
}

impl hyper::rt::Read for SimIo {
    fn poll_read(self: Pin<&mut Self>, _cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // No waker is kept: `Drive` polls the protocol in the same task after every delivery.
        match self.link.borrow_mut().read(buf.remaining()) {
            Some(bytes) => {
                buf.put_slice(&bytes);
                Poll::Ready(Ok(()))
            }
            None => Poll::Pending,
        }
    }
}

impl hyper::rt::Write for SimIo {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut link = self.link.borrow_mut();
        if link.broken() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if !buf.is_empty() {
            if !link.has_room(buf.len()) {
                return Poll::Pending;
            }
            link.write(buf);
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.link.borrow_mut().close();
        Poll::Ready(Ok(()))
    }
}

impl Pump {
    /// Moves whatever can be moved now; true if the protocol has something new to see.
    fn poll(&mut self, now_ms: u64, cx: &mut Context<'_>) -> bool {
        self.poll_arrivals(cx);
        if !self.link.borrow().broken() && self.poll_departures(now_ms, cx).is_err() {
            self.departing.clear();
            self.link.borrow_mut().break_off();
        }
        self.link.borrow_mut().deliver(now_ms)
    }

    fn poll_arrivals(&mut self, cx: &mut Context<'_>) {
        while !self.is_drained && self.link.borrow().wants_arrivals() {
            let mut chunk = [MaybeUninit::uninit(); READ_CHUNK];
            let mut buf = ReadBuf::uninit(&mut chunk);
            let read = Pin::new(&mut self.socket).poll_read(cx, &mut buf);
            let mut link = self.link.borrow_mut();
            match read {
                Poll::Pending => self.is_drained = true,
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => link.arrive(buf.filled()),
                Poll::Ready(Ok(()) | Err(_)) => link.arrive_end(),
            }
        }
    }

    fn poll_departures(&mut self, now_ms: u64, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.departing.is_empty() {
                match self.link.borrow_mut().take_departure(now_ms) {
                    Some(bytes) => self.departing = bytes,
                    None => break,
                }
            }
            match Pin::new(&mut self.socket).poll_write(cx, &self.departing)? {
                Poll::Ready(0) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(written) => self.departing.advance(written),
                Poll::Pending => return Ok(()),
            }
            self.dirty = true;
        }
        if self.dirty && Pin::new(&mut self.socket).poll_flush(cx)?.is_ready() {
            self.dirty = false;
        }
        Ok(())
    }

    /// True when nothing is left to send and the end is due.
    fn finished(&self, now_ms: u64) -> bool {
        let link = self.link.borrow();
        link.broken() || (self.departing.is_empty() && !self.dirty && link.departed(now_ms))
    }

    /// Sees to it that the task looks again when the next packet is due; true if that is now.
    fn poll_alarm(&mut self, now_ms: u64, cx: &mut Context<'_>) -> bool {
        let next = self.link.borrow().next_due_ms(now_ms, !self.departing.is_empty());
        next.is_some_and(|due_ms| self.alarm.poll_until(due_ms, cx).is_ready())
    }
}

/// Tells the task of a connection that its protocol wants to go on, and not only the network.
struct ProtocolWaker {
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl ProtocolWaker {
    fn task(&self) -> MutexGuard<'_, Option<Waker>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to wake from now on.
    fn belongs_to(&self, waker: &Waker) {
        let mut task = self.task();
        if !task.as_ref().is_some_and(|task| task.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl Wake for ProtocolWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Relaxed);
        if let Some(task) = &*self.task() {
            task.wake_by_ref();
        }
    }
}

/// Runs a protocol over its connection until the protocol is done and its last bytes have left.
///
/// Dropping it closes the socket at once, as the death of a machine does.
pub struct Drive<P> {
    protocol: Option<Pin<Box<P>>>,
    woken: Arc<ProtocolWaker>,
    waker: Waker,
    pump: Pump,
}

impl<P: Future> Drive<P> {
    /// `protocol` is hyper's connection over the [`SimIo`] that came with `pump`.
    pub fn new(protocol: P, pump: Pump) -> Drive<P> {
        // Woken from the start: the protocol wants its first poll.
        let woken = Arc::new(ProtocolWaker { is_woken: AtomicBool::new(true), task: Mutex::default() });
        let waker = Waker::from(Arc::clone(&woken));
        Drive { protocol: Some(Box::pin(protocol)), woken, waker, pump }
    }

    /// Polls the protocol where that can make a difference: it was woken, or there is news for it.
    fn poll_protocol(&mut self, news: bool) {
        let Some(protocol) = &mut self.protocol else { return };
        let abandoned = self.pump.link.borrow().abandoned();
        if !abandoned && !self.woken.is_woken.swap(false, Ordering::Relaxed) && !news {
            return;
        }
        if abandoned || protocol.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            self.protocol = None;
            self.pump.link.borrow_mut().close();
        }
    }
}

impl<P: Future> Future for Drive<P> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.pump.link.borrow_mut().driven_by(cx.waker());
        this.woken.belongs_to(cx.waker());
        let _held = rt::hold_clock();
        let mut now_ms = rt::now_ms();
        loop {
            this.pump.is_drained = false;
            let news = this.pump.poll(now_ms, cx);
            this.poll_protocol(news);
            // As long as the protocol neither reads nor writes, there is nothing more to move.
            while this.pump.link.borrow_mut().take_touched() {
                if this.pump.poll(now_ms, cx) {
                    this.poll_protocol(true);
                }
            }
            if this.protocol.is_none() && this.pump.finished(now_ms) {
                return Poll::Ready(());
            }
            if !this.pump.poll_alarm(now_ms, cx) {
                return Poll::Pending;
            }
            now_ms = rt::now_ms();
        }
    }
}
