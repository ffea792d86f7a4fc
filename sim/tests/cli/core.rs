//! `sim conform core`: a program in full, a file of programs, and what is refused.

use super::bad_input::refused;
use super::process::{Scratch, assert_ran};

/// A recorded program.
const PROGRAM: &str = include_str!("../data/core-program.json");

#[test]
fn a_program_is_shown_step_by_step() {
    let scratch = Scratch::new("core-program");
    assert_ran("core_program", &scratch.sim(&["conform", "core", "--program", "d0"]));
    let json = scratch.sim(&["conform", "core", "--program", "d0", "--format", "json"]).json();
    assert_eq!((&json["program"], &json["exit_code"]), (&"d0".into(), &0.into()));
    assert_eq!(json["steps"][1]["recorded"], json["steps"][1]["here"]);
}

#[test]
fn programs_of_a_file_are_compared_and_one_that_parts_is_a_failure() {
    let scratch = Scratch::new("core-file");
    let other = PROGRAM.replace(r#""p":"d0""#, r#""p":7"#).replace(r#"["connect",0,0]"#, r#"["connect",0,1]"#);
    scratch.write("programs.jsonl", format!("{PROGRAM}\n{other}").as_bytes());
    let ran = scratch.sim(&["conform", "core", "--file", "programs.jsonl"]);
    assert_ran("core_parting", &ran);
    assert_eq!(ran.code, 10);
    let json = scratch.sim(&["conform", "core", "--file", "programs.jsonl", "--format", "json"]).json();
    assert_eq!(
        (&json["programs"], &json["whole"], &json["parting"][0]["program"]),
        (&2.into(), &1.into(), &"7".into())
    );
    let fixed = scratch.sim(&[
        "conform",
        "core",
        "--file",
        "programs.jsonl",
        "--program",
        "d0",
        "--defect",
        "idle-alarm-deletes-meta",
    ]);
    assert_eq!(fixed.code, 0, "{}", fixed.shown());
}

/// What is put for what in the recorded program, and what is told of it.
const CHANGED: &[(&str, &str, &str, &str)] = &[
    ("name-twice", r#""hasDir":true"#, r#""hasDir":true,"hasDir":false"#, "line 1 column "),
    ("id-object", r#""p":"d0""#, r#""p":{}"#, "line 1: `p` is an object, expected a whole number"),
    ("id-text", r#""p":"d0""#, r#""p":"x""#, "line 1: `p` is \"x\", expected a whole number"),
    ("field", r#""p":"d0""#, r#""p":"d0","q":1"#, "line 1, program d0: unknown field `q`, expected"),
    ("count", r#""n":1"#, r#""n":2"#, "line 1, program d0: `cfg.n` is 2, and `sessions` has 1: "),
    ("cfg", r#""n":1"#, r#""n":1,"m":1"#, "line 1, program d0: unknown field `cfg.m`, expected `n`"),
    ("start", r#""start":"started""#, r#""start":"on""#, "line 1, program d0: `cfg.sessions[0].start` is \"on\""),
    ("far", r#""timeout":60000"#, r#""timeout":60000000000000"#, "line 1, program d0: has a time that is"),
    (
        "session",
        r#""op":"conn+","s":0"#,
        r#""op":"conn+","s":9"#,
        "line 1, program d0, step 0: `s` is session 9, and there are 1, counted from 0: name",
    ),
    (
        "operation",
        r#""op":"conn+","s":0"#,
        r#""op":"fly","s":0"#,
        "line 1, program d0, step 0: `op` is \"fly\", which is no operation: write one",
    ),
    (
        "own-field",
        r#""op":"conn+","s":0"#,
        r#""op":"conn+","s":0,"who":"owner""#,
        "line 1, program d0, step 0: unknown field `who`, expected `op`, `s`: remove",
    ),
    (
        "no-counters",
        r#","c":{"r":0,"p":0,"f":0,"reg":[],"dir":[]}"#,
        "",
        "line 1, program d0, step 0: `c` is missing, and the first step",
    ),
    ("counter", r#""c":{"r":0,"#, r#""c":{"r":0,"q":0,"#, "line 1, program d0, step 0: unknown field `c.q`, expected"),
    ("state", r#"{"conns":1}"#, r#"{"cons":1}"#, "line 1, program d0, step 0: unknown field `st.0.cons`, expected"),
    (
        "of-nobody",
        r#""st":{"0""#,
        r#""st":{"7""#,
        "line 1, program d0, step 0: `st.7` is the state of no session, and there are 1",
    ),
    (
        "flag",
        r#""props":false"#,
        r#""props":0"#,
        "line 1, program d0, step 1: `props` is 0, expected true or false: correct",
    ),
    (
        "event",
        r#"["flush",0]"#,
        r#"["flsh",0]"#,
        "line 1, program d0, step 2: `ev[21]` begins with \"flsh\", which is no kind of event",
    ),
    (
        "members",
        r#"["flush",0]"#,
        r#"["flush"]"#,
        "line 1, program d0, step 2: `ev[21]` is a `flush` of 1 members, expected 2",
    ),
    (
        "gate",
        r#"["gate",0,0"#,
        r#"["gate",1,0"#,
        "line 1, program d0, step 1: `ev[0]` is gate 1, expected 0, the next in order",
    ),
    (
        "open",
        r#""open":[0]"#,
        r#""open":[5]"#,
        "line 1, program d0, step 1: `open[0]` is 5, and no such gate was opened so far: list",
    ),
    (
        "open-twice",
        r#""open":[0]"#,
        r#""open":[0,0]"#,
        "line 1, program d0, step 1: `open[1]` is 0, which was opened no later than",
    ),
    (
        "then",
        r#"{"op":"drain","#,
        r#"{"op":"release","g":0,"then":"stop","#,
        "line 1, program d0, step 2: `then` is \"stop\", expected \"pause\": correct",
    ),
    (
        "no-gate",
        r#"{"op":"drain","#,
        r#"{"op":"release","g":3,"#,
        "line 1, program d0, step 2: `g` is 3, and no such gate is open after the step before: name",
    ),
    (
        "kind",
        r#"{"op":"drain","#,
        r#"{"op":"fail","g":0,"kind":"fire","#,
        "line 1, program d0, step 2: `kind` is \"fire\", expected \"code_update\" or",
    ),
    (
        "abort",
        r#"{"op":"drain","#,
        r#"{"op":"abortWait","i":1,"#,
        "line 1, program d0, step 2: `i` is 1, which is an `onStart`, expected the number of an earlier `wait`",
    ),
    (
        "early",
        r#"{"op":"drain","#,
        r#"{"op":"ka-","i":9,"#,
        "line 1, program d0, step 2: `i` is 9, which is no step before this one, expected",
    ),
    (
        "init",
        r#"{"op":"onStart","s":0,"props":false"#,
        r#"{"op":"init","s":0"#,
        "line 1, program d0, step 1: `op` is \"init\", and `cfg.prod` says",
    ),
    (
        "no-time",
        r#""op":"drain","now":0"#,
        r#""op":"drain","now":"0""#,
        "line 1, program d0, step 2: `now` is \"0\", expected a whole number",
    ),
];

#[test]
fn what_is_no_program_is_refused_in_one_sentence() {
    let scratch = Scratch::new("core-refused");
    let program = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut program = serde_json::from_str(PROGRAM).expect("JSON");
        change(&mut program);
        program.to_string().into_bytes()
    };
    let two_sessions = program(&|program| {
        let session = program["cfg"]["sessions"][0].clone();
        program["cfg"]["sessions"].as_array_mut().expect("a list").push(session);
        program["cfg"]["n"] = 2.into();
    });
    let no_steps = program(&|program| program["steps"] = serde_json::json!([]));
    let twice = format!("{}\n{PROGRAM}", PROGRAM.trim_end()).into_bytes();
    let mut files: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "the file: holds no program: write"),
        ("text", b"hello\n".to_vec(), "line 1 column 1: expected value: correct the JSON"),
        ("binary", b"\x00\xff\xfe".to_vec(), "byte 1: is neither of gzip nor of text in UTF-8: check"),
        ("cut.gz", b"\x1f\x8b\x08\x00\x00\x00".to_vec(), "the bytes: are no whole gzip file"),
        ("list", b"[]".to_vec(), "line 1: a program is a JSON object and begins with {: check"),
        ("second", br#"{"p":1"#.to_vec(), "line 1 column 6: the program ends in the middle"),
        ("bare", br#"{"p":1}"#.to_vec(), "line 1, program 1: `cfg` is missing: add it"),
        ("id-twice", twice, "line 2: `p` is d0, as that of line 1 is: give"),
        ("sessions", two_sessions, "line 1, program d0: `cfg.sessions[1].id` is that of session 0 too: give"),
        ("no-steps", no_steps, "line 1, program d0: `steps` is empty: a program has"),
    ];
    for (name, from, to, told) in CHANGED {
        assert!(PROGRAM.contains(from), "{from}");
        files.push((name, PROGRAM.replacen(from, to, 1).into_bytes(), told));
    }
    for (name, bytes, told) in files {
        scratch.write(name, &bytes);
        let sentence = refused(&scratch.sim(&["conform", "core", "--file", name]), name);
        assert!(sentence.starts_with(&format!("{name}: {told}")), "{sentence}");
        assert!(!sentence.contains("struct") && !sentence.contains("variant"), "{sentence}");
    }
    let sentence = refused(&scratch.sim(&["conform", "core", "--file", "nowhere"]), "nowhere");
    assert!(sentence.starts_with("nowhere: cannot read the recording"), "{sentence}");
    let sentence = refused(&scratch.sim(&["conform", "core", "--program", "d99"]), "d99");
    assert!(sentence.starts_with("no program is called `d99`"), "{sentence}");
    let sentence = refused(&scratch.sim(&["conform", "core", "--defect", "idle-alarm"]), "defect");
    assert!(sentence.contains("idle-alarm"), "{sentence}");
}
