//! The pages that show no subcommand in particular.

use crate::support::{Page, Stage};

#[test]
fn the_overview_is_current() {
    Page::new("cli.md", Stage::new()).check();
}
