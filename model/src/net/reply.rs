//! The answer to one exchange: the edge worker says it piece by piece, the connection sends it.
//!
//! The worker's side only puts frames into a channel, so it never waits and may live on another machine.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Frame;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::server::{ExchangeId, Inlet};

/// The worker's end of one answer: a head, any number of chunks, the end.
///
/// Dropped before the head, the connection closes without an answer; dropped after the head without
/// [`Reply::end`], the body is cut and the connection closes, as when the worker dies. What is said to a
/// client that left is lost.
#[derive(Debug)]
pub struct Reply {
    frames: UnboundedSender<ReplyFrame>,
}

/// One piece of an answer on its way to the connection.
#[derive(Debug)]
pub(super) enum ReplyFrame {
    /// Status and headers.
    Head(u16, Vec<(String, String)>),
    /// Bytes of the body.
    Chunk(Bytes),
    /// The body is complete.
    End,
}

/// A new answer: the worker's end and the connection's.
pub(super) fn reply() -> (Reply, UnboundedReceiver<ReplyFrame>) {
    let (frames, received) = unbounded_channel();
    (Reply { frames }, received)
}

impl Reply {
    /// Starts the answer; once, first. With a `content-length` header the body is sent as it is, without it in chunks.
    pub fn head(&self, status: u16, headers: Vec<(String, String)>) {
        self.say(ReplyFrame::Head(status, headers));
    }

    /// Sends bytes of the body.
    pub fn write(&self, bytes: Bytes) {
        self.say(ReplyFrame::Chunk(bytes));
    }

    /// Completes the body.
    pub fn end(self) {
        self.say(ReplyFrame::End);
    }

    /// The whole answer at once, with its length declared.
    pub fn full(self, status: u16, mut headers: Vec<(String, String)>, body: Bytes) {
        headers.push(("content-length".to_owned(), body.len().to_string()));
        self.head(status, headers);
        self.write(body);
        self.end();
    }

    fn say(&self, frame: ReplyFrame) {
        // An error means that the connection is gone; the worker hears of it by `Inlet::gone`.
        let _ = self.frames.send(frame);
    }
}

/// The worker dropped the answer before it was complete.
#[derive(Debug)]
pub struct CutShort;

impl fmt::Display for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the worker dropped its answer")
    }
}

impl std::error::Error for CutShort {}

/// Tells the worker when the client leaves before the answer was fully taken.
pub(super) struct Departure {
    inlet: Arc<dyn Inlet>,
    exchange: ExchangeId,
    watching: bool,
}

impl Departure {
    /// Watches one exchange from its request on.
    pub(super) fn watch(inlet: Arc<dyn Inlet>, exchange: ExchangeId) -> Departure {
        Departure { inlet, exchange, watching: true }
    }

    /// The answer was taken, or the worker itself gave it up.
    pub(super) fn over(&mut self) {
        self.watching = false;
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        if self.watching {
            self.inlet.gone(self.exchange);
        }
    }
}

/// The body of an answer as hyper takes it.
pub(super) struct ReplyBody {
    frames: UnboundedReceiver<ReplyFrame>,
    departure: Departure,
    taken: u64,
    /// Bytes still to come when a length was declared: hyper stops asking after the last of them.
    left: Option<u64>,
}

impl ReplyBody {
    /// The rest of an answer whose head declared `length`.
    pub(super) fn new(frames: UnboundedReceiver<ReplyFrame>, departure: Departure, length: Option<u64>) -> ReplyBody {
        let mut body = ReplyBody { frames, departure, taken: 0, left: length };
        body.took(0);
        body
    }

    fn took(&mut self, length: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(length as u64);
            if *left == 0 {
                self.departure.over();
            }
        }
    }
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = CutShort;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CutShort>>> {
        let this = &mut *self;
        match ready!(this.frames.poll_recv(cx)) {
            Some(ReplyFrame::Chunk(bytes)) => {
                this.taken += 1;
                this.departure.inlet.drained(this.departure.exchange, this.taken);
                this.took(bytes.len());
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(ReplyFrame::End) => {
                this.departure.over();
                Poll::Ready(None)
            }
            Some(ReplyFrame::Head(..)) | None => {
                this.departure.over();
                Poll::Ready(Some(Err(CutShort)))
            }
        }
    }
}
