//! Sessions: how each client opens one, in which order, and how it leaves.

use super::script::{Seen, call, run};
use crate::client::persona::{Deletes, PERSONAS};
use crate::rt;

fn connected(persona: &str) -> Seen {
    run(persona, &[], &[], |client| async move {
        client.open().await;
        rt::sleep_ms(100).await;
        assert!(client.holds_stream() && call(&client).await.outcome.word() == "answered");
        client.close().await;
        rt::sleep_ms(100).await;
        assert!(!client.holds_stream());
        assert_eq!(call(&client).await.outcome.word(), "failed", "it is closed");
    })
}

#[test]
fn each_opens_its_listener_before_or_after_it_says_initialized() {
    for persona in PERSONAS {
        let seen = connected(persona.name);
        let at = |text: &str| {
            let (at_ms, line) = *seen.at(text).last().unwrap_or_else(|| panic!("{}: {text}", persona.name));
            let place = seen.0.iter().rposition(|each| each.ends_with(line)).unwrap_or(0);
            (at_ms, place)
        };
        let (listens, initialized) = (at("GET stream"), at("POST initialized"));
        let number = seen.at("POST initialized").last().map_or("", |(_, line)| line.split(' ').nth(1).unwrap_or(""));
        let accepted = at(&format!("{number} head 202"));
        match persona.name {
            "vscode-2026" => assert!(listens.1 < initialized.1, "{}", persona.name),
            name if name.starts_with("py-") || name.starts_with("fastmcp") => {
                assert!(listens.1 < initialized.1 && listens.0 == initialized.0, "{name}");
            }
            name => assert!(listens.1 > accepted.1 && listens.0 == accepted.0, "{name}"),
        }
    }
}

#[test]
fn each_asks_for_its_version_and_says_the_negotiated_one_but_one() {
    for persona in PERSONAS {
        let seen = connected(persona.name);
        let asked =
            format!("for \"{}\", said -", if persona.name == "rmcp-3.11.0" { "2026-07-28" } else { "2025-11-25" });
        assert!(seen.0.iter().any(|line| line.contains("edge opens 1") && line.ends_with(&asked)), "{}", persona.name);
        let said = if persona.name == "vscode-2026" { "said -" } else { "said 2025-11-25" };
        assert!(seen.0.iter().any(|line| line.contains("edge called in") && line.ends_with(said)), "{}", persona.name);
    }
}

#[test]
fn the_second_python_client_and_what_stands_on_it_probe_first() {
    for persona in PERSONAS {
        let probes = ["py-mcp-2.3.0", "fastmcp-4.2.3"].contains(&persona.name);
        let probed = connected(persona.name).0.iter().any(|line| line.ends_with("edge is probed, said 2026-07-28"));
        assert_eq!(probed, probes, "{}", persona.name);
    }
}

#[test]
fn one_looks_around_before_it_opens_a_session() {
    for persona in PERSONAS {
        let seen = connected(persona.name);
        let opened = seen.0.iter().position(|line| line.contains("edge opens")).unwrap_or(0);
        let before = |text: &str| seen.0[..opened].iter().filter(|line| line.contains(text)).count();
        let asked = (before("edge is asked without a session"), before("edge has no /.well-known/"));
        let looks_around = persona.name == "mcp-remote-0.15.1";
        assert_eq!(asked, if looks_around { (2, 6) } else { (0, 0) }, "{}", persona.name);
        assert_eq!(seen.count("GET probe"), if looks_around { 8 } else { 0 }, "nothing of it later");
    }
}

#[test]
fn one_asks_for_the_tools_between_its_listener_and_its_call() {
    for persona in PERSONAS {
        let seen = connected(persona.name);
        let at = |text: &str| seen.0.iter().position(|line| line.contains(text));
        let order = (at("GET stream"), at("edge lists its tools"), at("edge called in"));
        let lists = persona.name == "inspector-2.12.0-cli";
        assert_eq!(order.1.is_some(), lists, "{}", persona.name);
        assert!(!lists || order.0 < order.1 && order.1 < order.2, "{order:?}");
    }
}

#[test]
fn one_leaves_a_session_behind_and_two_never_end_one() {
    for persona in PERSONAS {
        let seen = connected(persona.name);
        let opened = seen.0.iter().filter(|line| line.contains("edge opens")).count();
        assert_eq!(opened, 1 + usize::from(persona.name == "mcp-remote-0.15.1"), "{}", persona.name);
        let never = ["mcp-remote-0.15.1", "inspector-2.12.0-cli"].contains(&persona.name);
        assert_eq!(seen.count("DELETE close"), usize::from(!never), "{}", persona.name);
        assert_eq!(persona.deletes == Deletes::Never, never, "{}", persona.name);
        assert_eq!(seen.count("client.skipped call: it is closed"), 1, "{}", persona.name);
    }
}
