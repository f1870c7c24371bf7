//! Through GPU memory, or through host memory, and why.

use std::ops::Range;

use hipfile::{Explanation, FileHandle, Predicted, Region};
use serde::Serialize;

use super::Direct;
use super::lane::name;
use crate::failure::Failure;

/// Where bytes go.
#[derive(Debug)]
pub enum Route {
    /// Through GPU memory, on the fast path by libhipfile's rules.
    Gpu,
    /// Through host memory.
    Host { reasons: Vec<String>, predicted: Option<Paths> },
}

/// A path for each direction, by libhipfile's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paths {
    pub read: String,
    pub write: String,
}

impl Route {
    fn host(reason: impl Into<String>) -> Self {
        Self::Host { reasons: vec![reason.into()], predicted: None }
    }

    /// Where that needs no question: none if it does.
    pub fn without_asking(direct: Direct, len: u64, whole_blocks: u64) -> Option<Self> {
        let reason = if len == 0 {
            "there is nothing to move"
        } else if whole_blocks == 0 {
            "there is no whole block for direct I/O"
        } else if direct == Direct::Never {
            "--direct never"
        } else {
            return None;
        };
        Some(Self::host(reason))
    }

    /// For no GPU memory.
    pub fn without_memory(direct: Direct, error: hipfile::Error) -> Result<Self, Failure> {
        if direct == Direct::Auto { Ok(Self::host(error.to_string())) } else { Err(error.into()) }
    }

    /// By what libhipfile's rules say of the first chunk for direct I/O.
    pub fn by_rules(
        direct: Direct,
        from: &FileHandle,
        to: &FileHandle,
        memory: &Region,
        chunk: &Range<u64>,
    ) -> Result<Self, Failure> {
        let len = usize::try_from(chunk.end.saturating_sub(chunk.start)).unwrap_or(usize::MAX);
        let explain = |file: &FileHandle| file.explain(memory.slice(..len.min(memory.len()))?, chunk.start);
        let (read, write) = (explain(from)?, explain(to)?);
        let fast = |explanation: &Explanation| explanation.path == Predicted::FastPath;
        if fast(&read) && fast(&write) {
            return Ok(Self::Gpu);
        }
        for (file, explanation) in [(from, &read), (to, &write)] {
            if explanation.path == Predicted::Refused || (direct == Direct::Always && !fast(explanation)) {
                return Err(refused(file, explanation));
            }
        }
        let mut reasons: Vec<String> = Vec::new();
        for reason in read.reasons.iter().chain(&write.reasons) {
            let text = reason.to_string();
            if !reasons.contains(&text) {
                reasons.push(text);
            }
        }
        let predicted = Paths { read: read.path.to_string(), write: write.path.to_string() };
        Ok(Self::Host { reasons, predicted: Some(predicted) })
    }
}

fn refused(file: &FileHandle, explanation: &Explanation) -> Failure {
    let reasons: Vec<_> = explanation.reasons.iter().map(ToString::to_string).collect();
    let failure = Failure::new(format!("{} can't take the fast path: {}", name(file), reasons.join(", ")));
    match explanation.reasons.first() {
        Some(reason) => failure.advice(reason.advice()),
        None => failure,
    }
}

impl Paths {
    /// What is to be expected on the GPU route.
    pub fn fast() -> Self {
        let fast = || Predicted::FastPath.to_string();
        Self { read: fast(), write: fast() }
    }

    /// Whether what was observed is what was predicted, as far as anything moved: blocks of zeros need not be written.
    pub fn agree_with(&self, predicted: &Self) -> bool {
        let nothing = hipfile::Observed::Nothing.to_string();
        let agree = |observed: &String, predicted: &String| observed == predicted || *observed == nothing;
        agree(&self.read, &predicted.read) && agree(&self.write, &predicted.write)
    }

    /// What libhipfile counted; none if it counted nothing.
    pub fn observed(before: Option<hipfile::Stats>) -> Option<Self> {
        let since = hipfile::stats().ok()?.since(before?);
        let (read, write) = (since.reads.observed(), since.writes.observed());
        let counted = read != hipfile::Observed::Nothing || write != hipfile::Observed::Nothing;
        counted.then(|| Self { read: read.to_string(), write: write.to_string() })
    }
}
