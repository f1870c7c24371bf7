//! docs/src/contract.md as the runner reads it: rows with their section, versions and reason.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs};

use hipfile_tests::rocm;

/// The page as it was when this program was built.
const PAGE: &str = include_str!("../../docs/src/contract.md");

/// Whose library a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// AMD's and the software one.
    Both,
    /// AMD's alone.
    Amd,
    /// The software one alone.
    Ours,
}

impl Tag {
    /// All of them, in the order in which they are printed.
    pub const ALL: [Self; 3] = [Self::Both, Self::Amd, Self::Ours];

    /// The tag that the versions cell of a row ends with.
    fn of(versions: &str) -> Self {
        match versions.rsplit(['·', ' ']).next() {
            Some("amd") => Self::Amd,
            Some("ours") => Self::Ours,
            _ => Self::Both,
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Both => "both",
            Self::Amd => "amd",
            Self::Ours => "ours",
        })
    }
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub id: &'static str,
    /// The heading it stands under.
    pub section: &'static str,
    pub tag: Tag,
    /// Why it has no test, or nothing.
    pub reason: &'static str,
}

/// The rows in the order of the page.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut section = "";
    for line in PAGE.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading;
        }
        let Some(line) = line.strip_prefix("| HF-") else { continue };
        let mut cells = line.trim_end_matches('|').rsplit(" |");
        let (reason, versions) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let id = line.split(' ').next().unwrap_or_default();
        // The id begins three bytes before what is left of the line.
        let start = id.as_ptr() as usize - PAGE.as_ptr() as usize - "HF-".len();
        let id = &PAGE[start..start + "HF-".len() + id.len()];
        rows.push(Row { id, section, tag: Tag::of(versions.trim()), reason: reason.trim() });
    }
    rows
}

/// Which of these ids tests of other suites name, and where. `cargo xtask tidy` sees to it that what names one is a test.
pub fn named_elsewhere(ids: Vec<&'static str>) -> BTreeMap<&'static str, String> {
    let mut found = BTreeMap::new();
    for place in ["tests/abi.c", "tests/abi", "tests/clients", "tests/system", "tests/soundness", "soft-rocm"]
    {
        sources(&rocm::workspace().join(place), &mut |path, text| {
            for id in ids.iter().filter(|id| text.contains(**id)) {
                let path = path.strip_prefix(rocm::workspace()).unwrap_or(path);
                found.entry(*id).or_insert_with(|| path.display().to_string());
            }
        });
    }
    found
}

/// Shows `look` each source file under a place.
fn sources(place: &Path, look: &mut impl FnMut(&Path, &str)) {
    let Ok(folder) = fs::read_dir(place) else {
        let source =
            place.extension().is_some_and(|kind| ["rs", "c", "cpp"].iter().any(|known| kind == *known));
        let text = if source { fs::read_to_string(place).ok() } else { None };
        return text.iter().for_each(|text| look(place, text));
    };
    folder.flatten().for_each(|entry| sources(&entry.path(), look));
}
