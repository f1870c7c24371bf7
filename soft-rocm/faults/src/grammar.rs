//! `POINT:ACTION[:ACTION…][@CONDITION[,CONDITION…]]`, entries apart by `;` or `,`.

use crate::actions::{self, Actions};
use crate::conditions::{self, Conditions};
use crate::error::{SpecError, any_of, shown};
use crate::names;
use crate::plan::Entry;
use crate::points::{self, Info, Point};

/// The longest text, far more than anybody writes.
const LONGEST: usize = 64 << 10;

/// The entries of a text, which may be empty.
pub(crate) fn parse(spec: &[u8]) -> Result<Vec<Entry>, SpecError> {
    if spec.len() > LONGEST {
        let message = format!("{} bytes are too many: expected at most {LONGEST}", spec.len());
        return Err(SpecError::whole(message));
    }
    let text = std::str::from_utf8(spec)
        .map_err(|error| SpecError::whole(format!("not UTF-8 from byte {} on", error.valid_up_to())))?;
    let entries = text.split(';').flat_map(split_at_commas).map(str::trim).filter(|entry| !entry.is_empty());
    (1..)
        .zip(entries)
        .map(|(number, text)| entry(text).map_err(|message| SpecError::in_entry(number, text, message)))
        .collect()
}

/// The entries of a part without `;`. A comma belongs to the conditions of an entry if a condition follows.
fn split_at_commas(mut rest: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    loop {
        let (mut end, mut conditions) = (0, false);
        let next = loop {
            let tail = rest.get(end..).unwrap_or_default();
            let part = tail.split(',').next().unwrap_or_default();
            conditions |= part.contains('@');
            end += part.len();
            match rest.get(end + 1..) {
                Some(follows) if conditions && conditions::is_condition(first_part(follows)) => end += 1,
                follows => break follows,
            }
        };
        entries.push(rest.get(..end).unwrap_or_default());
        match next {
            Some(next) => rest = next,
            None => return entries,
        }
    }
}

fn first_part(text: &str) -> &str {
    text.split(',').next().unwrap_or_default().trim()
}

fn entry(text: &str) -> Result<Entry, String> {
    let (call, when) = match text.split_once('@') {
        Some((call, when)) => (call, Some(when)),
        None => (text, None),
    };
    let mut parts = call.split(':').map(str::trim);
    let (point, info) = point(parts.next().unwrap_or_default())?;
    let mut actions = None;
    for part in parts {
        actions.get_or_insert_with(Actions::default).add(info, part)?;
    }
    let Some(actions) = actions else {
        let accepted = any_of(actions::of(info.kind).iter().copied());
        return Err(format!("nothing is to happen: expected {}:ACTION with {accepted}", info.name));
    };
    let mut conditions = Conditions::default();
    for part in when.into_iter().flat_map(|when| when.split(',')) {
        conditions.add(info, part.trim())?;
    }
    conditions.check()?;
    Ok(Entry::new(point, actions, conditions))
}

fn point(name: &str) -> Result<(Point, &'static Info), String> {
    if let Some(found) = Point::named(name) {
        return Ok(found);
    }
    if conditions::is_condition(name) {
        return Err("a condition stands behind the @ of an entry".into());
    }
    let expected = match names::nearest(name, points::points().map(|(name, _)| name)) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("expected a function of HIP or hipFile, {}", any_of(points::others())),
    };
    Err(format!("{} is no known point; {expected}", shown(name)))
}

#[cfg(test)]
mod tests;
