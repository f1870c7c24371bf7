//! The bar on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::name::one_line;

/// How far a file has come, shown on standard error where that is a terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

const TEMPLATE: &str = "{wide_msg} {bar:20} {bytes:>10} of {total_bytes}  {binary_bytes_per_sec:>11}  {eta}";

impl Progress {
    /// Of so many bytes, under this name.
    pub fn new(shown: bool, total: u64, name: String) -> Self {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        // The style is a constant, and tests see it.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.set_message(one_line(&name).into_owned());
        Self(bar)
    }

    /// So many bytes more have come.
    pub fn add(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}

impl Drop for Progress {
    /// It goes when there is nothing to wait for any more: lines about what was done follow.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_one() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
