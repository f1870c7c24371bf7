//! The header by itself, as C and as C++ see it.
#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../include");

/// Checks a source file for this language; `None` if there is no such compiler.
fn check(compiler: &str, arguments: &[&str], source: &str) -> Option<Output> {
    let mut command = Command::new(compiler);
    command.args(arguments).args([
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-fsyntax-only",
        "-I",
        INCLUDE,
        "-",
    ]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: {compiler}: {error}");
            return None;
        }
    };
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

/// Errors of the compiler; empty if it accepts the source.
fn errors(compiler: &str, arguments: &[&str], source: &str) -> String {
    check(compiler, arguments, source).map_or(String::new(), |output| {
        assert_eq!(output.status.success(), output.stderr.is_empty());
        String::from_utf8_lossy(&output.stderr).into_owned()
    })
}

#[test]
fn c_accepts_it() {
    let source = "#include <hip/hip_runtime_api.h>\n#include <hip/hip_runtime_api.h>\n
        _Static_assert(sizeof(hipPointerAttribute_t) == 32, \"size\");
        _Static_assert(sizeof(hipAmdFileHandle_t) == 8, \"size\");
        _Static_assert(sizeof(hipDeviceProp_t) == 1472, \"size\");
        _Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 1160, \"offset\");
        _Static_assert(HIP_VERSION == 71400000, \"version\");
        int f(void **p) { return hipMalloc(p, 1) == hipErrorOutOfMemory || hipStreamSynchronize(NULL) != hipSuccess; }
        int g(hipDeviceProp_t *p) { return hipGetDeviceProperties(p, 0) || p->arch.hasDoubles; }";
    for standard in ["-std=c11", "-std=c17"] {
        assert_eq!(errors("cc", &["-x", "c", standard, "-D__HIP_PLATFORM_AMD__"], source), "", "{standard}");
    }
}

#[test]
fn cpp_accepts_it_and_allocates_for_pointers_of_any_type() {
    let source = "#include <hip/hip_runtime_api.h>
        static_assert(sizeof(hipPointerAttribute_t) == 32, \"size\");
        hipError_t f(float **p, void **q) { return hipMalloc(p, 1) ? hipHostMalloc(p, 1) : hipMalloc(q, 1); }";
    for standard in ["-std=c++17", "-std=c++20"] {
        assert_eq!(
            errors("c++", &["-x", "c++", standard, "-D__HIP_PLATFORM_NVIDIA__"], source),
            "",
            "{standard}"
        );
    }
}

#[test]
fn both_languages_accept_our_additions() {
    let source = "#include <softrocm.h>\n#include <softrocm.h>\n
        int f(char *error) { return softrocm_hip_set_faults(NULL, error, 1) + softrocm_hipfile_set_faults(\"\", NULL, 0); }
        void *g(void *p) { return softrocm_hip_held_calls() ? softrocm_host_address(p, 1) : NULL; }
        size_t h(void) { return softrocm_hip_counted_calls(1) + softrocm_hipfile_counted_calls(1); }";
    for (compiler, language, standard) in [("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17")] {
        assert_eq!(errors(compiler, &["-x", language, standard, "-D__HIP_PLATFORM_AMD__"], source), "");
    }
}

#[test]
fn cpp_warns_about_a_result_nobody_looks_at() {
    let source = "#include <hip/hip_runtime_api.h>\nvoid f(void *p) { hipFree(p); }";
    let arguments = ["-x", "c++", "-std=c++17", "-D__HIP_PLATFORM_AMD__"];
    let Some(output) = check("c++", &arguments, source) else { return };
    assert!(String::from_utf8_lossy(&output.stderr).contains("nodiscard"), "{output:?}");
}

#[test]
fn a_platform_has_to_be_named() {
    let Some(output) = check("cc", &["-x", "c"], "#include <hip/hip_runtime_api.h>") else { return };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("define __HIP_PLATFORM_AMD__ or __HIP_PLATFORM_NVIDIA__ before"), "{text}");
}
