//! Tells the program how it was built: `sim bench` prints it beside its figures.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // `debug` or `release`; assertions are on in both, so the program could not tell them apart by itself.
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=SIM_PROFILE={profile}");
}
