//! ARCHITECTURE.md says which claim judges which promise of the host: that table is made from the claims themselves.
//!
//! `UPDATE_README=1` writes it anew.

use std::path::Path;

const BEGIN: &str = "<!-- promises, from scenarios/src/invariants/promises.rs -->\n";
const END: &str = "<!-- end of promises -->";

#[test]
fn the_table_of_promises_is_that_of_the_claims() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).expect("ARCHITECTURE.md can be read");
    let (before, rest) = text.split_once(BEGIN).expect("ARCHITECTURE.md has the begin of the table");
    let (table, after) = rest.split_once(END).expect("ARCHITECTURE.md has the end of the table");
    let so = format!("\n{}\n", scenarios::invariants::promises::table());
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{so}{END}{after}")).expect("ARCHITECTURE.md can be written");
        return;
    }
    assert!(table == so, "ARCHITECTURE.md: the table of promises is not that of the claims; UPDATE_README=1 writes it");
}
