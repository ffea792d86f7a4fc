//! Reading JSON so that only an object is an object, and only a name is a value of an enumeration.
//!
//! Method: what is derived takes a list for an object, field by field in the order in which they were declared, and
//! refuses what is no name as if the JSON itself were broken. A [`Strict`] stands between reader and type, all the way
//! down; what a tagged enumeration holds is read from memory and escapes it.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess, Unexpected, Visitor};
use std::fmt;

/// What an expectation of an object begins with, in the words of derived readers.
const OBJECTS: [&str; 2] = ["struct ", "internally tagged enum "];

/// A reader, or a part of one, with the rules of this module.
pub struct Strict<T>(pub T);

macro_rules! read_alike {
    ($($method:ident($($name:ident: $kind:ty),*)),* $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Strict(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    read_alike! {
        deserialize_any(), deserialize_bool(), deserialize_i8(), deserialize_i16(), deserialize_i32(), deserialize_i64(),
        deserialize_i128(), deserialize_u8(), deserialize_u16(), deserialize_u32(), deserialize_u64(), deserialize_u128(),
        deserialize_f32(), deserialize_f64(), deserialize_char(), deserialize_str(), deserialize_string(),
        deserialize_bytes(), deserialize_byte_buf(), deserialize_option(), deserialize_unit(),
        deserialize_unit_struct(name: &'static str), deserialize_newtype_struct(name: &'static str), deserialize_seq(),
        deserialize_tuple(len: usize), deserialize_tuple_struct(name: &'static str, len: usize), deserialize_map(),
        deserialize_struct(name: &'static str, fields: &'static [&'static str]), deserialize_identifier(),
        deserialize_ignored_any(),
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Named { names, visitor })
    }
}

macro_rules! visit_alike {
    ($($method:ident($kind:ty)),* $(,)?) => {
        $(fn $method<E: de::Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(out)
    }

    visit_alike! {
        visit_bool(bool), visit_i8(i8), visit_i16(i16), visit_i32(i32), visit_i64(i64), visit_i128(i128), visit_u8(u8),
        visit_u16(u16), visit_u32(u32), visit_u64(u64), visit_u128(u128), visit_f32(f32), visit_f64(f64), visit_char(char),
        visit_str(&str), visit_borrowed_str(&'de str), visit_string(String), visit_bytes(&[u8]),
        visit_borrowed_bytes(&'de [u8]), visit_byte_buf(Vec<u8>),
    }

    fn visit_none<E: de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(from))
    }

    fn visit_unit<E: de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(from))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        let expected = (&self.0 as &dyn Expected).to_string();
        if OBJECTS.iter().any(|object| expected.starts_with(object)) {
            return Err(de::Error::invalid_type(Unexpected::Seq, &self));
        }
        self.0.visit_seq(Strict(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(fields))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, value: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(value)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(from))
    }
}

/// Reads a value of an enumeration: its name, or an object with it.
struct Named<V> {
    names: &'static [&'static str],
    visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Named<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        write!(out, "one of {}", quoted.join(", "))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<V::Value, E> {
        self.visitor.visit_enum(StrDeserializer::new(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(MapAccessDeserializer::new(Strict(fields)))
    }
}

#[cfg(test)]
mod tests {
    use crate::document::message;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(default)]
        inner: Inner,
        #[serde(default)]
        several: Vec<Inner>,
        #[serde(default)]
        act: Option<Act>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Inner {
        colour: Colour,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Colour {
        #[default]
        DarkRed,
        Blue,
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "do", rename_all = "snake_case")]
    enum Act {
        Wait { ms: u64 },
    }

    #[test]
    fn what_has_the_right_shape_is_read() {
        let text = br#"{"inner": {"colour": "blue"}, "several": [{"colour": "blue"}], "act": {"do": "wait", "ms": 5}}"#;
        let outer: Outer = message(text, "thing").expect("it is one");
        assert_eq!((outer.inner.colour, &outer.several[0].colour), (Colour::Blue, &Colour::Blue));
        assert!(matches!(outer.act, Some(Act::Wait { ms: 5 })));
    }

    #[test]
    fn lists_are_no_objects_and_numbers_no_names_at_any_depth() {
        let wrong = [
            ("[]", "found a list, expected an object"),
            (r#"{"inner": []}"#, "found a list, expected an object"),
            (r#"{"inner": ["blue"]}"#, "found a list, expected an object"),
            (r#"{"inner": 5}"#, "found the number `5`, expected an object"),
            (r#"{"several": [["blue"]]}"#, "found a list, expected an object"),
            (r#"{"several": {}}"#, "found an object, expected a list"),
            (r#"{"act": ["wait", 5]}"#, "found a list, expected an object"),
            (r#"{"inner": {"colour": 5}}"#, "found the number `5`, expected one of `dark-red`, `blue`"),
            (r#"{"inner": {"colour": null}}"#, "found null, expected one of `dark-red`, `blue`"),
            (r#"{"inner": {"colour": []}}"#, "found a list, expected one of `dark-red`, `blue`"),
            (r#"{"inner": {"colour": {}}}"#, "expected"),
            (r#"{"inner": {"colour": "green"}}"#, "unknown value `green`, expected `dark-red` or `blue`"),
            (r#"{"act": {"do": "wait", "ms": "5"}}"#, "found the text \"5\", expected a whole number, not negative"),
        ];
        for (text, expected) in wrong {
            let told = message::<Outer>(text.as_bytes(), "thing").expect_err(text).to_string();
            assert!(told.contains(expected) && told.contains("line 1 column "), "{text}: {told}");
            assert!(!told.contains("Inner") && !told.contains("Colour") && !told.contains("u64"), "{text}: {told}");
        }
    }
}
