//! Documents from outside as they begin: bounded, UTF-8, a JSON object of a known version, and no name given twice.
//!
//! Method: what is common to plans, records, baselines and the like is checked here, before anything is read into types,
//! so that each refusal reads the same whatever kind of file it is about.

use crate::bad_input::{BadInput, from_json, text_of};
use crate::strict::Strict;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A kind of versioned JSON document.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What it is called in a sentence: `plan`.
    pub what: &'static str,
    /// The field that holds the version.
    pub version_field: &'static str,
    /// The version that this build writes, and the newest that it reads.
    pub version: u32,
    /// The most bytes that are read at all.
    pub bytes_max: usize,
}

impl Format {
    /// Reads a document of exactly this version.
    ///
    /// # Errors
    /// Too long, no UTF-8, no JSON object, another version, or not of this shape: place, problem and remedy.
    pub fn read<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, BadInput> {
        let (text, version) = self.begin(bytes)?;
        if version < self.version {
            return Err(BadInput::new(
                self.version_field,
                format!("the {} is version {version}, this build reads {}", self.what, self.version),
                "write it again with this build, or use the sim that wrote it",
            ));
        }
        typed(text, self.what)
    }

    /// The text of a document and the version that it says it has: from 1 to the one that this build writes.
    ///
    /// # Errors
    /// Too long, no UTF-8, no JSON object, or a version that this build does not know.
    pub fn begin<'a>(&self, bytes: &'a [u8]) -> Result<(&'a str, u32), BadInput> {
        let Self { what, version, bytes_max, .. } = *self;
        if bytes.len() > bytes_max {
            return Err(BadInput::new(
                format!("{} bytes", bytes.len()),
                format!("a {what} has at most {bytes_max} bytes ({} MiB)", bytes_max / (1024 * 1024)),
                format!("check that it is a {what}"),
            ));
        }
        let text = text_of(bytes, what)?;
        if !text.trim_start().starts_with('{') {
            return Err(BadInput::new(
                "line 1 column 1",
                format!("a {what} is a JSON object and begins with {{"),
                format!("check that it is a {what}"),
            ));
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let found = Head(self.version_field).deserialize(&mut reader).and_then(|found| reader.end().map(|()| found));
        let found = found.map_err(|error| from_json(&error, what))?;
        match found.as_ref().and_then(Json::as_u64) {
            Some(newer) if newer > u64::from(version) => Err(BadInput::new(
                self.version_field,
                format!("{what} is version {newer}, this build reads up to {version}"),
                "use the sim that wrote it",
            )),
            Some(known @ 1..) => Ok((text, known as u32)),
            _ => Err(BadInput::new(
                self.version_field,
                format!("expected a whole number from 1 to {version}"),
                format!("write \"{}\": {version} if it is a {what} of this build", self.version_field),
            )),
        }
    }
}

/// Reads a message without a version, such as a line between two processes of the same build.
///
/// # Errors
/// Not of this shape: place, problem and remedy.
pub fn message<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, BadInput> {
    typed(text_of(bytes, what)?, what)
}

/// Reads a text of JSON into a type, by the rules of [`Strict`]; `what` it is, for the refusal.
///
/// # Errors
/// Not of this shape: line and column, problem and remedy.
pub fn typed<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, BadInput> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = T::deserialize(Strict(&mut reader)).and_then(|read| reader.end().map(|()| read));
    read.map_err(|error| from_json(&error, what))
}

/// Reads a value of JSON into a type, as [`typed`] reads a text.
///
/// # Errors
/// Not of this shape: problem and remedy.
pub fn typed_value<T: DeserializeOwned>(value: Json, what: &str) -> Result<T, BadInput> {
    T::deserialize(Strict(value)).map_err(|error| from_json(&error, what))
}

/// Reads one field of an object and skips the others.
struct Head(&'static str);

impl<'de> DeserializeSeed<'de> for Head {
    type Value = Option<Json>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Head {
    type Value = Option<Json>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            if name != self.0 {
                map.next_value::<IgnoredAny>()?;
            } else if found.is_some() {
                return Err(de::Error::duplicate_field(self.0));
            } else {
                found = Some(map.next_value()?);
            }
        }
        Ok(found)
    }
}

/// Reads a map; a name that stands twice is refused instead of the later one winning silently.
///
/// # Errors
/// Those of its names and values, and the first name that stands twice.
pub fn without_doubles<'de, D, K, V>(from: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord + fmt::Display,
    V: Deserialize<'de>,
{
    struct Pairs<K, V>(PhantomData<(K, V)>);
    impl<'de, K: Deserialize<'de> + Ord + fmt::Display, V: Deserialize<'de>> Visitor<'de> for Pairs<K, V> {
        type Value = BTreeMap<K, V>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = BTreeMap::new();
            while let Some(name) = map.next_key::<K>()? {
                if pairs.contains_key(&name) {
                    return Err(de::Error::custom(format!("`{name}` stands twice")));
                }
                pairs.insert(name, map.next_value()?);
            }
            Ok(pairs)
        }
    }
    from.deserialize_map(Pairs(PhantomData))
}

/// Reads any JSON; a name that stands twice in an object is refused, however deep. `what` it is, for the refusal.
///
/// # Errors
/// No JSON, or a name that stands twice: line and column, problem and remedy.
pub fn without_doubles_anywhere(text: &str, what: &str) -> Result<Json, BadInput> {
    serde_json::from_str(text).map(|Sole(json)| json).map_err(|error| from_json(&error, what))
}

/// JSON in which no name stands twice in an object.
struct Sole(Json);

impl<'de> Deserialize<'de> for Sole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Soles).map(Sole)
    }
}

struct Soles;

impl<'de> Visitor<'de> for Soles {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(Sole(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = serde_json::Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(de::Error::custom(format!("`{name}` stands twice")));
            }
            let Sole(value) = map.next_value()?;
            fields.insert(name, value);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { what: "list", version_field: "list", version: 2, bytes_max: 1024 * 1024 };

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct List {
        list: u32,
        #[serde(default, deserialize_with = "without_doubles")]
        of: BTreeMap<String, u8>,
    }

    #[test]
    fn a_document_of_this_version_is_read() {
        let list = FORMAT.read::<List>(br#" {"of": {"a": 1, "b": 2}, "list": 2}"#).expect("a list");
        assert_eq!((list.list, list.of.len()), (2, 2));
    }

    #[test]
    fn what_is_wrong_with_a_document_is_told_with_its_place() {
        let long = vec![b' '; FORMAT.bytes_max + 1];
        let wrong: [(&[u8], &str); 11] = [
            (&long, "1048577 bytes: a list has at most 1048576 bytes (1 MiB): check that it is a list"),
            (b"", "byte 0: the list is empty"),
            (b"{\"list\": \xff}", "byte 9: the list is not UTF-8 text"),
            (b"[2]", "line 1 column 1: a list is a JSON object and begins with {"),
            (b"{\"list\": 2", "the list ends in the middle"),
            (b"{\"list\": 3}", "list: list is version 3, this build reads up to 2: use the sim that wrote it"),
            (b"{\"list\": 1}", "list: the list is version 1, this build reads 2"),
            (b"{\"list\": 2.0}", "list: expected a whole number from 1 to 2: write \"list\": 2"),
            (b"{\"list\": 2, \"list\": 2}", "duplicate field `list`"),
            (b"{\"list\": 2} x", "trailing characters"),
            (b"{\"list\": 2, \"of\": {\"a\": 1, \"a\": 1}}", "`a` stands twice"),
        ];
        for (bytes, expected) in wrong {
            let told = FORMAT.read::<List>(bytes).expect_err(expected).to_string();
            assert!(told.contains(expected), "{told}");
        }
    }
}
