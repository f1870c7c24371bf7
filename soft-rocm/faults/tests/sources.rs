//! What the sources of both libraries do: each exported function passes the point of its name, and each system call
//! goes through [`soft_rocm_faults::sys`].
#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Calls of libc that can't be given a fault, and why not.
const NO_SYSTEM_CALLS: [(&str, &str); 14] = [
    ("__errno_location", "asks for an address"),
    ("close", "nothing of the program's depends on what it answers"),
    ("fflush", "what the program wrote, not the library"),
    ("getpid", "can't fail"),
    ("getrlimit", "can't fail for a known limit"),
    ("setrlimit", "its failure is that of the next call"),
    ("syscall", "gettid, which can't fail"),
    ("sysconf", "can't fail for a known name"),
    ("syslog", "answers nothing"),
    ("write", "a line on standard error, where nobody could report its failure"),
    ("preadv", "made while no plan is in force, with pread behind it"),
    ("raise", "no call that could be handled"),
    ("abort", "does not return"),
    ("_exit", "does not return"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The sources below a folder without modules of tests: path and text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let all = files(folder);
    let of_tests: BTreeSet<&str> = all.iter().flat_map(|(_, text)| test_modules(text)).collect();
    all.iter()
        .filter(|(path, _)| {
            let below = path.strip_prefix(folder).unwrap().with_extension("");
            !below.iter().any(|part| of_tests.contains(part.to_str().unwrap()) || part == "bindings")
        })
        .map(|(path, text)| {
            (path.clone(), text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned())
        })
        .collect()
}

/// The modules in files of their own that are compiled for tests alone.
fn test_modules(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().zip(text.lines().skip(1));
    lines
        .filter(|(attribute, _)| {
            attribute.starts_with("#[cfg(test") || attribute.starts_with("#[cfg(all(test")
        })
        .filter_map(|(_, module)| module.strip_suffix(';')?.split("mod ").nth(1))
}

fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

#[test]
fn each_system_call_passes_its_point() {
    let mut seen = BTreeSet::new();
    for library in ["hip/src", "hipfile/src"] {
        for (path, text) in sources(&root().join(library)) {
            for call in text.split("libc::").skip(1) {
                let end = call
                    .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
                    .unwrap_or(call.len());
                let (name, rest) = call.split_at(end);
                if !rest.starts_with('(') || name.starts_with(|first: char| first.is_uppercase()) {
                    continue;
                }
                // Threads and signal sets belong to the C library.
                let known = name.starts_with("pthread_")
                    || name.starts_with("sig")
                    || NO_SYSTEM_CALLS.iter().any(|(known, _)| *known == name);
                assert!(known, "{}: libc::{name} instead of sys::{name}", path.display());
            }
            for call in text.split("sys::").skip(1) {
                seen.extend(
                    call.split('(')
                        .next()
                        .filter(|name| {
                            name.chars().all(|l| l.is_ascii_lowercase() || l.is_ascii_digit() || l == '_')
                        })
                        .map(str::to_owned),
                );
            }
        }
    }
    // The other way round: a point that nothing passes would be a promise that nobody keeps.
    for (name, _) in soft_rocm_faults::points().filter(|(name, _)| !name.contains("hip") && *name != "stream")
    {
        assert!(seen.contains(name), "{name} is a point of no call: {seen:?}");
    }
}

#[test]
fn each_exported_function_passes_the_point_of_its_name() {
    for (folder, at_least) in [("hip/src/api", 30), ("hipfile/src/exports", 39)] {
        let mut functions = 0;
        for (path, text) in sources(&root().join(folder)) {
            for function in text.split("extern \"C\" fn ").skip(1) {
                let name = function.split(['(', '<']).next().unwrap();
                let ours = name.starts_with("softrocm_");
                let passes = function.contains(&format!("point::{name},"))
                    || function.contains(&format!("point::{name})"));
                assert!(passes || ours, "{}: {name} passes no point of its name", path.display());
                functions += 1;
            }
        }
        assert!(functions >= at_least, "{folder}: {functions} functions");
    }
}
