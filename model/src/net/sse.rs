//! Reads a stream of server-sent events, whatever the borders of the chunks it comes in.
//!
//! Lines end in LF, CR LF or CR; a byte order mark may come first; a block without a blank line after it is not an
//! event. Unlike a browser's parser this one reports blocks without data (priming events) and comments.

/// Bytes that one line or the data of one event may have.
pub const SSE_LENGTH_MAX: usize = 16 * 1024 * 1024;

/// The fields of one block that were given in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// `event:`, the type.
    pub event: Option<String>,
    /// `data:`, several lines joined by LF.
    pub data: Option<String>,
    /// `id:`; the cursor from here on.
    pub id: Option<String>,
    /// `retry:` in milliseconds.
    pub retry_ms: Option<u64>,
}

/// What a stream consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// A block ended by a blank line.
    Event(SseEvent),
    /// A line that starts with a colon, without it and one space.
    Comment(String),
    /// A line or an event was longer than allowed and is lost.
    TooLong,
}

/// State between two chunks.
#[derive(Debug)]
pub struct SseParser {
    length_max: usize,
    line: Vec<u8>,
    line_lost: bool,
    block_lost: bool,
    after_cr: bool,
    first_line: bool,
    block: SseEvent,
}

impl Default for SseParser {
    fn default() -> SseParser {
        SseParser::with_limit(SSE_LENGTH_MAX)
    }
}

impl SseParser {
    /// A parser that loses lines, and events, longer than `length_max` bytes.
    pub fn with_limit(length_max: usize) -> SseParser {
        SseParser {
            length_max,
            line: Vec::new(),
            line_lost: false,
            block_lost: false,
            after_cr: false,
            first_line: true,
            block: SseEvent::default(),
        }
    }

    /// Takes the next bytes of the stream and gives what they complete.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Vec<SseItem> {
        let mut items = Vec::new();
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            self.lengthen(&bytes[..end.unwrap_or(bytes.len())], &mut items);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(&mut items);
        }
        items
    }

    fn lengthen(&mut self, part: &[u8], items: &mut Vec<SseItem>) {
        if self.line_lost {
            return;
        }
        if self.line.len() + part.len() > self.length_max {
            self.line_lost = true;
            self.lose_block(items);
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn lose_block(&mut self, items: &mut Vec<SseItem>) {
        if !std::mem::replace(&mut self.block_lost, true) {
            items.push(SseItem::TooLong);
        }
    }

    fn end_line(&mut self, items: &mut Vec<SseItem>) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.first_line) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if std::mem::take(&mut self.line_lost) {
            return;
        }
        if line.is_empty() {
            let block = std::mem::take(&mut self.block);
            if !std::mem::take(&mut self.block_lost) && block != SseEvent::default() {
                items.push(SseItem::Event(block));
            }
            return;
        }
        let line = super::lossy_text(&line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        self.take_field(name, value, items);
    }

    fn take_field(&mut self, name: &str, value: &str, items: &mut Vec<SseItem>) {
        match name {
            "" => items.push(SseItem::Comment(value.to_owned())),
            "event" => self.block.event = Some(value.to_owned()),
            "id" if !value.contains('\0') => self.block.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.block.retry_ms = value.parse().ok().or(self.block.retry_ms);
            }
            "data" => match &mut self.block.data {
                None => self.block.data = Some(value.to_owned()),
                Some(data) if data.len() + 1 + value.len() > self.length_max => self.lose_block(items),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(event: Option<&str>, data: Option<&str>, id: Option<&str>, retry_ms: Option<u64>) -> SseItem {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        SseItem::Event(SseEvent { event: owned(event), data: owned(data), id: owned(id), retry_ms })
    }

    fn parse(stream: &str) -> Vec<SseItem> {
        SseParser::default().feed(stream.as_bytes())
    }

    #[test]
    fn the_fields_of_a_block_make_one_event() {
        let items = parse("event: mcp-priming\nid: a_1\nretry: 250\ndata: {\"x\":1}\ndata:two\n\n");
        assert_eq!(items, [event(Some("mcp-priming"), Some("{\"x\":1}\ntwo"), Some("a_1"), Some(250))]);
    }

    #[test]
    fn a_priming_event_without_data_is_an_event_and_a_comment_is_reported() {
        let items = parse(": keepalive\n\nid: 7\n\nid: 8\ndata:\n\n");
        let expected = [
            SseItem::Comment("keepalive".to_owned()),
            event(None, None, Some("7"), None),
            event(None, Some(""), Some("8"), None),
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn what_is_not_ended_by_a_blank_line_or_is_not_valid_does_not_count() {
        assert_eq!(parse("data: x\n"), []);
        let items = parse("retry: soon\nid: a\0b\nunknown: 1\nnocolon\ndata:  two spaces\n\n");
        assert_eq!(items, [event(None, Some(" two spaces"), None, None)]);
    }

    #[test]
    fn splitting_the_same_bytes_anywhere_gives_the_same_items() {
        let stream = "\u{feff}: hi\r\n\r\nid: 1\r\ndata: ä\r\n\r\ndata: lf\n\nretry: 9\rdata: cr\r\rdata: a\n\
                      data: b\r\n\nevent: e\ndata\n\n: bye\n";
        let whole = parse(stream);
        assert_eq!(whole.len(), 7, "{whole:?}");
        let bytes = stream.as_bytes();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let mut parser = SseParser::default();
                let mut items = parser.feed(&bytes[..first]);
                items.extend(parser.feed(&bytes[first..second]));
                items.extend(parser.feed(&bytes[second..]));
                assert_eq!(items, whole, "split at {first} and {second}");
            }
        }
    }

    #[test]
    fn an_over_long_line_or_event_is_lost_and_the_stream_goes_on() {
        let mut parser = SseParser::with_limit(8);
        let items = parser.feed(b"data: 1234567890\ndata: x\n\ndata: a\n\ndata:123\ndata:456\ndata:7\n\ndata: b\n\n");
        let a_and_b = [event(None, Some("a"), None, None), event(None, Some("b"), None, None)];
        assert_eq!(items, [SseItem::TooLong, a_and_b[0].clone(), SseItem::TooLong, a_and_b[1].clone()]);
    }
}
