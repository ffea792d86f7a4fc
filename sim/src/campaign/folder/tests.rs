//! The folder of a campaign: what is refused is left as it was, and what is gone on with is what was kept.

use super::*;
use scenarios::seed::Seed;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sim-folder-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn options() -> CampaignOptions {
    CampaignOptions::new(Seed(0), Some(Seed(10)), vec!["a/one".to_owned()])
}

/// A record that has folded that many seeds of one scenario.
fn after(record: &mut Record, seed_count: u64) {
    record.seed_count = seed_count;
    record.scenarios.entry("a/one".to_owned()).or_default().run_count = seed_count;
}

fn refusal(path: &Path, options: CampaignOptions, existing: Existing) -> String {
    Folder::open(path, options, existing).map(drop).expect_err("it is refused").to_string()
}

#[test]
fn a_campaign_goes_on_where_it_stopped() {
    let scratch = Scratch::new("resume");
    let (folder, mut record) = Folder::open(&scratch.0, options(), Existing::Refuse).expect("a new folder");
    after(&mut record, 4);
    folder.save(&record).expect("kept");
    drop(folder);
    assert!(refusal(&scratch.0, options(), Existing::Refuse).contains("after 4 seeds: add `--resume`"));
    assert!(refusal(&scratch.0, options(), Existing::Repeat).contains("add `--resume`"));
    let (_folder, found) = Folder::open(&scratch.0, options(), Existing::Resume).expect("it goes on");
    assert_eq!(found, record);
}

#[test]
fn a_finished_campaign_that_nobody_named_may_be_repeated() {
    let scratch = Scratch::new("repeat");
    let (folder, mut record) = Folder::open(&scratch.0, options(), Existing::Refuse).expect("a new folder");
    after(&mut record, 10);
    folder.save(&record).expect("kept");
    drop(folder);
    refusal(&scratch.0, options(), Existing::Refuse);
    let (_folder, found) = Folder::open(&scratch.0, options(), Existing::Repeat).expect("from the start");
    assert_eq!(found.seed_count, 0);
}

#[test]
fn other_options_other_builds_and_other_files_are_refused_and_left_alone() {
    let scratch = Scratch::new("foreign");
    let (folder, mut record) = Folder::open(&scratch.0, options(), Existing::Refuse).expect("a new folder");
    let other = CampaignOptions { is_twice: true, ..options() };
    assert!(refusal(&scratch.0, other, Existing::Resume).contains("another `--twice`"));
    let other = CampaignOptions { run_limit_s: 1, ..options() };
    assert!(refusal(&scratch.0, other, Existing::Resume).contains("another `--run-limit-s`"));
    record.build = "0000000000000000".to_owned();
    folder.save(&record).expect("kept");
    drop(folder);
    let before = fs::read(scratch.0.join(RECORD_FILE)).expect("there");
    assert!(refusal(&scratch.0, options(), Existing::Resume).contains("of build 0000000000000000"));
    for half in [&before[..before.len() / 2], b"", b"{}", b"\xff"] {
        fs::write(scratch.0.join(RECORD_FILE), half).expect("written");
        refusal(&scratch.0, options(), Existing::Resume);
        assert_eq!(fs::read(scratch.0.join(RECORD_FILE)).expect("there"), half);
    }
    fs::remove_file(scratch.0.join(RECORD_FILE)).expect("removed");
    fs::write(scratch.0.join("thesis.tex"), "x").expect("written");
    assert!(refusal(&scratch.0, options(), Existing::Resume).contains("other files, such as thesis.tex"));
    assert!(refusal(&scratch.0.join("thesis.tex"), options(), Existing::Refuse).contains("no folder"));
}

#[test]
fn two_campaigns_do_not_share_a_folder() {
    let scratch = Scratch::new("lock");
    let _held = Folder::open(&scratch.0, options(), Existing::Refuse).expect("a new folder");
    assert!(refusal(&scratch.0, options(), Existing::Resume).contains("another campaign is writing there"));
}

#[test]
fn half_written_files_are_cleared_away() {
    let scratch = Scratch::new("leftovers");
    fs::create_dir_all(&scratch.0).expect("made");
    fs::write(scratch.0.join(".campaign.json.77.tmp"), "half").expect("written");
    let _folder = Folder::open(&scratch.0, options(), Existing::Resume).expect("as good as empty");
    assert!(!scratch.0.join(".campaign.json.77.tmp").exists());
}
