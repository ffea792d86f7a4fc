//! One statement of the language of calls: read, written in one way, and made simpler. The language itself is described
//! in `scenarios/src/expect.rs`.

use super::literal;
use serde_json::Value as Json;

/// A statement of the language.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    word: Word,
    operand: Operand,
}

/// What a statement does, the simplest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Return,
    Wait,
    Emit,
    Fail,
    Ask,
    Offer,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Value(Json),
    Large {
        bytes: u64,
        beginning: String,
    },
    /// The last response.
    Answer,
}

const WORDS: [(&str, Word); 6] = [
    ("return", Word::Return),
    ("wait", Word::Wait),
    ("emit", Word::Emit),
    ("fail", Word::Fail),
    ("ask", Word::Ask),
    ("offer", Word::Offer),
];

/// The longest text that code can ask for, in bytes.
const LARGE_BYTES_MAX: u64 = 4_000_000;

impl Statement {
    /// Reads one; none if it is not of the language.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, operand) = text.trim().split_once(char::is_whitespace)?;
        let (_, word) = *WORDS.iter().find(|(known, _)| *known == word)?;
        let operand = match operand.trim() {
            "answer" => Operand::Answer,
            operand => match operand.strip_prefix("large ") {
                Some(rest) => {
                    let (bytes, beginning) = rest.trim_start().split_once(char::is_whitespace)?;
                    let bytes = bytes.parse().ok().filter(|bytes| *bytes <= LARGE_BYTES_MAX)?;
                    Operand::Large { bytes, beginning: serde_json::from_str(beginning.trim()).ok()? }
                }
                None => Operand::Value(serde_json::from_str(operand).ok()?),
            },
        };
        let is_fitting = match (word, &operand) {
            (Word::Return | Word::Emit, _) => true,
            (Word::Wait, Operand::Value(value)) => value.is_u64(),
            (Word::Fail, Operand::Value(value)) => value.is_string(),
            (Word::Ask | Word::Offer, Operand::Value(value)) => value.is_object(),
            (Word::Fail, Operand::Large { .. }) => true,
            _ => false,
        };
        is_fitting.then_some(Self { word, operand })
    }

    fn plain(number: u64) -> Self {
        Self { word: Word::Return, operand: Operand::Value(number.into()) }
    }

    /// How far it is from the plainest, in code of that number; how rough its numbers are is counted elsewhere.
    pub fn cost(&self, own: u64) -> u64 {
        let word = 1 + 10 * (self.word as u64);
        word + match &self.operand {
            // How long it waits is counted elsewhere.
            Operand::Value(_) if self.word == Word::Wait => 0,
            Operand::Value(value) => literal::cost(value, own),
            Operand::Answer => 4,
            Operand::Large { beginning, .. } => 7 + literal::text_cost(beginning, own),
        }
    }

    /// What it can become in one step, the plainest first.
    pub fn simpler(&self, own: u64) -> Vec<Self> {
        let mut list = Vec::new();
        if !matches!(self.word, Word::Return | Word::Wait) {
            list.extend([Self::plain(1), Self::plain(own)]);
        }
        if self.word == Word::Offer {
            list.push(Self { word: Word::Ask, ..self.clone() });
        }
        let of_operand = match (&self.operand, self.word) {
            (Operand::Value(_), Word::Wait) => Vec::new(),
            (Operand::Value(Json::Object(question)), Word::Ask | Word::Offer) => {
                literal::simpler_questions(question, own).into_iter().map(Operand::Value).collect()
            }
            (Operand::Value(value), _) => literal::simpler(value, own).into_iter().map(Operand::Value).collect(),
            (Operand::Answer, _) => vec![Operand::Value(1.into()), Operand::Value(own.into())],
            (Operand::Large { bytes, .. }, _) => {
                let texts = literal::simpler_texts(own);
                let shorter = texts.clone().map(|beginning| Operand::Large { bytes: *bytes, beginning });
                let values = [Json::from(1), own.into()].into_iter().chain(texts.map(Json::from));
                values.map(Operand::Value).chain(shorter).collect()
            }
        };
        list.extend(of_operand.into_iter().map(|operand| Self { operand, ..self.clone() }));
        // A failure has a text, and nothing else.
        list.retain(|each| each.word != Word::Fail || !matches!(&each.operand, Operand::Value(Json::Number(_))));
        list
    }

    /// Calls what it says by the number of its code: a value, a text or a message.
    pub fn mark(&mut self, own: u64) {
        let mark = |value: &mut Json| match value {
            Json::String(text) => *text = own.to_string(),
            Json::Number(number) => *number = own.into(),
            _ => {}
        };
        match (&mut self.operand, self.word) {
            (Operand::Value(_), Word::Wait) | (Operand::Answer, _) => {}
            (Operand::Value(Json::Object(question)), Word::Ask | Word::Offer) => {
                question.get_mut("message").into_iter().for_each(mark);
            }
            (Operand::Value(value), _) => mark(value),
            (Operand::Large { beginning, .. }, _) => *beginning = own.to_string(),
        }
    }

    /// Hands each of its whole numbers to `change`, in order.
    pub fn each_number(&mut self, change: &mut dyn FnMut(&mut u64)) {
        match &mut self.operand {
            Operand::Value(value) => literal::each_number(value, change),
            Operand::Large { bytes, .. } => {
                change(bytes);
                *bytes = (*bytes).min(LARGE_BYTES_MAX);
            }
            Operand::Answer => {}
        }
    }
}

impl std::fmt::Display for Statement {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = WORDS.iter().find(|(_, word)| *word == self.word).map_or("", |(known, _)| known);
        match &self.operand {
            Operand::Value(value) => write!(out, "{word} {value}"),
            Operand::Large { bytes, beginning } => write!(out, "{word} large {bytes} {}", Json::from(&**beginning)),
            Operand::Answer => write!(out, "{word} answer"),
        }
    }
}
