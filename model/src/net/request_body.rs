//! Collects the whole body of a request, up to a limit.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use hyper::body::Incoming;

/// Bytes of a request body that the server takes; the host's own limit of 4 MiB lies below.
pub const REQUEST_BODY_MAX: usize = 8 * 1024 * 1024;

/// Why there is no whole body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// More than [`REQUEST_BODY_MAX`] bytes.
    TooLarge,
    /// The client left, or broke the framing, before the end.
    Cut,
}

/// A body on its way in.
pub(super) struct Collecting {
    body: Incoming,
    collected: BytesMut,
}

impl Collecting {
    /// Starts with nothing.
    pub(super) fn new(body: Incoming) -> Collecting {
        Collecting { body, collected: BytesMut::new() }
    }
}

impl Future for Collecting {
    type Output = Result<Bytes, BodyError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    if this.collected.len() + bytes.len() > REQUEST_BODY_MAX {
                        return Poll::Ready(Err(BodyError::TooLarge));
                    }
                    this.collected.extend_from_slice(&bytes);
                }
                Some(Err(_)) => return Poll::Ready(Err(BodyError::Cut)),
                None => return Poll::Ready(Ok(std::mem::take(&mut this.collected).freeze())),
            }
        }
    }
}
