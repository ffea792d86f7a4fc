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

#[test]
fn what_is_no_program_is_refused_in_one_sentence() {
    let scratch = Scratch::new("core-refused");
    let session = PROGRAM.replace(r#""op":"conn+","s":0"#, r#""op":"conn+","s":9"#);
    let operation = PROGRAM.replace(r#""op":"conn+""#, r#""op":"fly""#);
    let far = PROGRAM.replace(r#""timeout":60000"#, r#""timeout":60000000000000"#);
    let files: [(&str, &[u8], &str); 9] = [
        ("empty", b"", "holds no program"),
        ("text", b"hello\n", "line 1: is no program"),
        ("binary", b"\x00\xff\xfe", "is neither gzip nor text in UTF-8"),
        ("cut.gz", b"\x1f\x8b\x08\x00\x00\x00", "is no whole gzip file"),
        ("no-steps", br#"{"p":1}"#, "line 1: is no program: missing field `cfg`"),
        ("session", session.as_bytes(), "line 1: program d0, step 0: is of session 9, and there are 1"),
        ("operation", operation.as_bytes(), "line 1: program d0, step 0: unknown variant `fly`"),
        ("far", far.as_bytes(), "line 1: program d0: has a time that is more than thirty years away"),
        ("second", br#"{"p":1"#, "line 1: is no program: EOF"),
    ];
    for (name, bytes, told) in files {
        scratch.write(name, bytes);
        let sentence = refused(&scratch.sim(&["conform", "core", "--file", name]), name);
        assert!(sentence.starts_with(&format!("{name}: {told}")), "{sentence}");
    }
    let sentence = refused(&scratch.sim(&["conform", "core", "--file", "nowhere"]), "nowhere");
    assert!(sentence.starts_with("nowhere: cannot read the recording"), "{sentence}");
    let sentence = refused(&scratch.sim(&["conform", "core", "--program", "d99"]), "d99");
    assert!(sentence.starts_with("no program is called `d99`"), "{sentence}");
    let sentence = refused(&scratch.sim(&["conform", "core", "--defect", "idle-alarm"]), "defect");
    assert!(sentence.contains("idle-alarm"), "{sentence}");
}
