//! docs/src/faults.md: its program prints what it says, its scripts are scripts, its reports are reports, and it names
//! every system call.

use hipfile_tests::compiler::{Language, must_run, program, with_headers, with_libraries};
use hipfile_tests::rocm;
use soft_rocm_faults::{Plan, points};

use crate::scene::symbol;

fn page() -> String {
    std::fs::read_to_string(rocm::workspace().join("docs/src/faults.md")).unwrap()
}

/// The fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// What stands between backticks in the first column of tables below a heading.
fn scripts<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let below = page.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
    below.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn the_program_prints_what_the_page_says() {
    if symbol("softrocm_hip_set_faults").is_null() {
        return println!("skipped: scripted faults are the software ROCm's");
    }
    let page = page();
    let sources = blocks(&page, "c");
    let [source] = sources.as_slice() else { panic!("{sources:?}") };
    let folder = tempfile::tempdir().unwrap();
    let (file, built) = (folder.path().join("page.c"), folder.path().join("page"));
    std::fs::write(&file, source).unwrap();
    let mut command = Language::C11.compiler();
    with_headers(&mut command).arg("-D__HIP_PLATFORM_AMD__").arg(&file).arg("-o").arg(&built);
    must_run(with_libraries(&mut command));
    let printed = String::from_utf8(must_run(&mut program(&built)).stdout).unwrap();
    assert!(blocks(&page, "text").contains(&printed.as_str()), "the page does not say\n{printed}");
}

#[test]
fn every_script_is_one() {
    let page = page();
    let scripts = scripts(&page, "## Examples");
    assert!(scripts.len() >= 15, "{scripts:?}");
    for script in scripts {
        assert!(Plan::parse(script.as_bytes()).is_ok_and(|plan| !plan.is_empty()), "{script}");
    }
    for condition in scripts_of_conditions(&page) {
        let script = format!("pread:errno=EIO@{condition}");
        let alone = Plan::parse(script.as_bytes()).err().map(|error| error.to_string());
        assert!(alone.is_none_or(|error| error.contains("seed= is for p=")), "{condition}");
    }
}

fn scripts_of_conditions(page: &str) -> Vec<&str> {
    scripts(page, "### Conditions")
}

#[test]
fn every_report_is_what_is_reported() {
    let page = page();
    let reports: Vec<_> =
        page.lines().filter_map(|line| line.strip_prefix("soft-rocm: SOFT_ROCM_FAULTS: ")).collect();
    assert_eq!(reports.len(), 2);
    for report in reports {
        let before = if report.starts_with("entry 2") { "pread:errno=EIO;" } else { "" };
        let entry = report.split('`').nth(1).unwrap();
        let script = format!("{before}{entry}");
        assert_eq!(Plan::parse(script.as_bytes()).unwrap_err().to_string(), report);
    }
}

#[test]
fn every_system_call_is_named() {
    let page = page();
    for (name, _) in points().filter(|(name, _)| !name.contains("hip")) {
        assert!(page.contains(&format!("`{name}`")), "{name} is not on the page");
    }
}
