//! Prints what a package offers to others, one item a line, from the JSON that rustdoc writes: `xtask-public-api FILE`.
//! `cargo xtask public-api` calls it.

use std::error::Error;

use public_api::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: xtask-public-api FILE")?;
    // What is left out follows from what remains; Send and Sync are asserted in the packages.
    let api = Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    print!("{api}");
    Ok(())
}
