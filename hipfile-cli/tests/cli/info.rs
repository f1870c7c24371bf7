//! `hipfile info`.

use crate::support::{Page, Stage};

#[test]
fn the_page_is_current() {
    // What a machine's administrator decides.
    let limits = |line: &str| {
        let name =
            ["open files", "locked memory", "length of a file"].into_iter().find(|name| line.contains(name));
        name.unwrap_or(line).to_owned()
    };
    let json = |line: &str| {
        let name = ["\"open_files\"", "\"locked_memory\"", "\"file_size\""]
            .into_iter()
            .find(|name| line.contains(name));
        name.unwrap_or(line).to_owned()
    };
    Page::new("cli-info.md", Stage::new()).mask(limits).mask(json).check();
}

#[test]
fn settings_are_shown_as_the_library_takes_them() {
    let stage = Stage::new()
        .variable("HIPFILE_FORCE_COMPAT_MODE", Some("1"))
        .variable("HIPFILE_STATS_LEVEL", Some("2"))
        .variable("SOFT_ROCM_HIPFILE_VERSION", Some("0.2"));
    let info = stage.run(&["info", "--json"]).json();
    assert_eq!(info["software"], true);
    assert_eq!(info["libhipfile"]["version"], "0.2.0");
    assert_eq!(info["properties"], serde_json::Value::Null);
    let variable = |name: &str| {
        let all = info["environment"].as_array().unwrap().iter();
        all.clone().find(|variable| variable["name"] == name).unwrap().clone()
    };
    let forced = variable("HIPFILE_FORCE_COMPAT_MODE");
    assert_eq!(
        (&forced["value"], &forced["effective"], &forced["ignored"]),
        (&"1".into(), &false.into(), &true.into())
    );
    assert_eq!(variable("HIPFILE_STATS_LEVEL")["effective"], 2);
    assert_eq!((&info["features"]["batch"], &info["features"]["async"]), (&false.into(), &true.into()));
    let text = stage.run(&["info"]).stdout;
    assert!(text.contains("false (`1` is not understood and counts as not set)"), "{text}");
}

#[test]
fn properties_are_shown_where_there_are_any() {
    let stage = Stage::new().variable("SOFT_ROCM_EXTENSIONS", Some("properties"));
    let properties = stage.run(&["info", "--json"]).json()["properties"].clone();
    assert!(properties["max_direct_io"].as_u64().unwrap() > 0, "{properties}");
    assert!(stage.run(&["info"]).stdout.contains("largest direct I/O"));
}

#[test]
fn a_machine_without_gpu_is_described_all_the_same() {
    let stage = Stage::new().variable("SOFT_ROCM_DEVICE_COUNT", Some("0"));
    let ran = stage.run(&["info", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["devices"], serde_json::json!([]));
    let text = stage.run(&["info"]).stdout;
    assert!(text.contains("GPUs\n  none                              HIP has no device\n"), "{text}");
}
