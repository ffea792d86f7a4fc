//! The values that code writes: how far each is from the plainest, and every one that is a step simpler.
//!
//! The plainest value is 1 and the plainest text `1`, whatever they are for. Where calls must be told from each other
//! each writes its own number instead: the first call 1, the second 2, so that names that were drawn become the same.

use serde_json::{Map, Value as Json, json};

/// What a text costs beyond its length.
const TEXT_COST: u64 = 5;

/// Whether a member of a question can be left out.
fn is_optional(key: &str) -> bool {
    !matches!(key, "kind" | "message" | "url")
}

/// How far a text is from the plainest, in code of that number.
pub fn text_cost(text: &str, own: u64) -> u64 {
    match text {
        "1" => 3,
        text if *text == own.to_string() => 4,
        text => TEXT_COST + text.len() as u64,
    }
}

/// How far a value is from the plainest, in code of that number; how rough numbers are is counted elsewhere.
pub fn cost(value: &Json, own: u64) -> u64 {
    match value {
        Json::Number(number) => match number.as_u64() {
            Some(1) => 0,
            Some(number) if number == own => 1,
            Some(_) => 2,
            None => 3 + number.to_string().len() as u64,
        },
        Json::String(text) => text_cost(text, own),
        Json::Null | Json::Bool(_) => 3,
        Json::Array(items) => 6 + items.iter().map(|each| 1 + cost(each, own)).sum::<u64>(),
        Json::Object(members) => {
            6 + members.iter().map(|(key, each)| 1 + key.len() as u64 + cost(each, own)).sum::<u64>()
        }
    }
}

/// The plainer texts in place of one.
pub fn simpler_texts(own: u64) -> [String; 2] {
    ["1".to_owned(), own.to_string()]
}

/// What a value can become in one step, the plainest first: 1, a part of it, all but a part, or one with a plainer part.
pub fn simpler(value: &Json, own: u64) -> Vec<Json> {
    let mut list = vec![json!(1), json!(own)];
    match value {
        Json::String(_) => list.extend(simpler_texts(own).map(Json::from)),
        Json::Array(items) => {
            list.extend(items.iter().cloned());
            list.extend((0..items.len()).map(|gone| {
                let kept = items.iter().enumerate().filter(|(at, _)| *at != gone);
                kept.map(|(_, each)| each.clone()).collect()
            }));
            for (at, each) in items.iter().enumerate() {
                list.extend(simpler(each, own).into_iter().map(|plainer| {
                    let mut items = items.clone();
                    items[at] = plainer;
                    Json::Array(items)
                }));
            }
        }
        Json::Object(members) => {
            list.extend(members.values().cloned());
            list.extend(members.keys().map(|key| without(members, key)));
            for (key, each) in members {
                list.extend(simpler(each, own).into_iter().map(|plainer| with(members, key, plainer)));
            }
        }
        _ => {}
    }
    list
}

/// What a question can become in one step: a form in place of a page, less that is said of it, plainer texts.
pub fn simpler_questions(question: &Map<String, Json>, own: u64) -> Vec<Json> {
    let mut list = Vec::new();
    if question.get("kind").is_some_and(|kind| kind == "url") {
        let mut form = with(question, "kind", "form".into());
        form.as_object_mut().map(|members| members.remove("url"));
        list.push(form);
    }
    list.extend(question.keys().filter(|key| is_optional(key)).map(|key| without(question, key)));
    for (key, each) in question.iter().filter(|(key, _)| *key != "kind") {
        let plainer = match is_optional(key) {
            true => simpler(each, own),
            false => simpler_texts(own).map(Json::from).to_vec(),
        };
        list.extend(plainer.into_iter().map(|plainer| with(question, key, plainer)));
    }
    list
}

/// Hands every whole number of a value to `change`, in order.
pub fn each_number(value: &mut Json, change: &mut dyn FnMut(&mut u64)) {
    match value {
        Json::Number(number) => {
            if let Some(mut whole) = number.as_u64() {
                change(&mut whole);
                *number = whole.into();
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|each| each_number(each, change)),
        Json::Object(members) => members.iter_mut().for_each(|(_, each)| each_number(each, change)),
        _ => {}
    }
}

fn without(members: &Map<String, Json>, key: &str) -> Json {
    let mut members = members.clone();
    members.remove(key);
    Json::Object(members)
}

fn with(members: &Map<String, Json>, key: &str, value: Json) -> Json {
    let mut members = members.clone();
    members.insert(key.to_owned(), value);
    Json::Object(members)
}
