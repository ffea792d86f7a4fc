//! `sim list`: what there is to run, what must hold and be reached, how clients behave, and what can be broken.

use super::args::Format;
use super::console::Console;
use crate::draw;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::report::kind_word;
use crate::text::table;
use model::client::persona::PERSONAS;
use model::defect::DEFECTS;
use scenarios::{invariants, reach, strength};
use serde_json::{Value as Json, json};

/// Arguments of `sim list`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to list; everything but the rows of reach, which are many, when it is left out
    what: Option<What>,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// What can be run: id and story
    Scenarios,
    /// What must hold: name, kind and claim
    Invariants,
    /// What runs must reach: name, where it is described, and the situation
    Reach,
    /// How clients behave: name, where that was seen, and what tells it from others
    Personas,
    /// What can be broken: name, source, the check that is to catch it, and what goes wrong
    Defects,
}

const EVERYTHING: [What; 4] = [What::Scenarios, What::Invariants, What::Personas, What::Defects];

/// Prints the lists.
///
/// # Errors
/// Those of the console.
pub fn execute(args: &Args, console: &mut Console) -> Result<ExitCode, Error> {
    let asked = args.what.map_or(EVERYTHING.to_vec(), |what| vec![what]);
    match args.format {
        Format::Text => {
            let lists = asked.iter().map(|what| {
                // A single list stands alone, so that it can be piped.
                let heading = if args.what.is_none() { format!("{}\n", what.name()) } else { String::new() };
                heading + &table(&what.rows(), &[])
            });
            console.print(&lists.collect::<Vec<_>>().join("\n"))?;
        }
        Format::Json => {
            let lists = asked.iter().map(|what| (what.name().to_owned(), what.json()));
            console.print_json(&Json::Object(lists.collect()))?;
        }
    }
    Ok(ExitCode::Held)
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Scenarios => "scenarios",
            Self::Invariants => "invariants",
            Self::Reach => "reach",
            Self::Personas => "personas",
            Self::Defects => "defects",
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Scenarios => &["id", "story"],
            Self::Invariants => &["name", "kind", "claim"],
            Self::Reach => &["name", "source", "claim"],
            Self::Personas => &["name", "origin", "story"],
            Self::Defects => &["name", "source", "predicted", "story"],
        }
    }

    fn rows(self) -> Vec<Vec<String>> {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect();
        match self {
            Self::Scenarios => draw::scenarios().map(|each| row(&[each.id, each.story])).collect(),
            Self::Invariants => {
                invariants::ALL.iter().map(|each| row(&[each.name, kind_word(each.kind), each.claim])).collect()
            }
            Self::Reach => reach::rows().iter().map(|each| row(&[each.name, each.source, each.claim])).collect(),
            Self::Personas => {
                PERSONAS.iter().map(|each| row(&[each.name, &each.origin.to_string(), each.story])).collect()
            }
            Self::Defects => DEFECTS
                .iter()
                .map(|each| row(&[each.name, each.source, strength::predicted(each.name).unwrap_or("?"), each.story]))
                .collect(),
        }
    }

    fn json(self) -> Json {
        let object = |row: Vec<String>| -> Json {
            self.columns()
                .iter()
                .zip(row)
                .map(|(column, cell)| (column.to_string(), json!(cell)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        self.rows().into_iter().map(object).collect()
    }
}
