//! SND-02: a scope is there while its call is, and no longer.
use hipfile::alloc::{Scope, Stream};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stream = Stream::new()?;
    let mut kept: Option<&Scope<'_, '_>> = None;
    stream.scope(|scope| {
        kept = Some(scope); // refused
        scope.synchronize()
    })?;
    assert!(kept.is_none());
    Ok(())
}
