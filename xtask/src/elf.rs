//! The dynamic section of a 64-bit little-endian ELF file: what a program or library asks the loader for.

/// What the loader reads before anything runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dynamic {
    /// The name that programs linked against this library record.
    pub soname: Option<String>,
    /// The libraries it asks for, by SONAME.
    pub needed: Vec<String>,
    /// Directories searched before `LD_LIBRARY_PATH` (the old form of rpath).
    pub rpath: Option<String>,
}

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_SONAME: u64 = 14;
const DT_RPATH: u64 = 15;

/// Reads the dynamic section. None if `file` is no 64-bit little-endian ELF file or is cut short; empty if the file is
/// linked statically.
pub fn dynamic(file: &[u8]) -> Option<Dynamic> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = program_headers(file)?;
    let Some(section) = headers.iter().find(|header| header.kind == PT_DYNAMIC) else {
        return Some(Dynamic::default());
    };
    let mut entries = Vec::new();
    for index in 0..section.size / 16 {
        let at = section.offset.checked_add(index * 16)?;
        let (tag, value) = (u64_at(file, at)?, u64_at(file, at + 8)?);
        if tag == DT_NULL {
            break;
        }
        entries.push((tag, value));
    }
    let strings = entries.iter().find(|(tag, _)| *tag == DT_STRTAB).map_or(0, |(_, address)| *address);
    let strings = headers.iter().find_map(|header| header.file_offset_of(strings))?;
    let mut dynamic = Dynamic::default();
    for (tag, value) in entries {
        match tag {
            DT_NEEDED => dynamic.needed.push(string_at(file, strings.checked_add(value)?)?),
            DT_SONAME => dynamic.soname = Some(string_at(file, strings.checked_add(value)?)?),
            DT_RPATH => dynamic.rpath = Some(string_at(file, strings.checked_add(value)?)?),
            _ => {}
        }
    }
    Some(dynamic)
}

/// One segment of the file.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Segment {
    /// Where in the file the byte lies that is loaded at `address`.
    fn file_offset_of(&self, address: u64) -> Option<u64> {
        let inside = address.checked_sub(self.address)?;
        if self.kind == PT_LOAD && inside < self.size { self.offset.checked_add(inside) } else { None }
    }
}

fn program_headers(file: &[u8]) -> Option<Vec<Segment>> {
    let (table, size, count) = (u64_at(file, 0x20)?, u16_at(file, 0x36)?, u16_at(file, 0x38)?);
    (0..u64::from(count))
        .map(|index| {
            let at = table.checked_add(index * u64::from(size))?;
            Some(Segment {
                kind: u32_at(file, at)?,
                offset: u64_at(file, at + 0x08)?,
                address: u64_at(file, at + 0x10)?,
                size: u64_at(file, at + 0x20)?,
            })
        })
        .collect()
}

fn bytes_at<const N: usize>(file: &[u8], at: u64) -> Option<[u8; N]> {
    file.get(usize::try_from(at).ok()?..)?.first_chunk().copied()
}

fn u16_at(file: &[u8], at: u64) -> Option<u16> {
    bytes_at(file, at).map(u16::from_le_bytes)
}

fn u32_at(file: &[u8], at: u64) -> Option<u32> {
    bytes_at(file, at).map(u32::from_le_bytes)
}

fn u64_at(file: &[u8], at: u64) -> Option<u64> {
    bytes_at(file, at).map(u64::from_le_bytes)
}

fn string_at(file: &[u8], at: u64) -> Option<String> {
    let rest = file.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(rest.get(..end)?).into_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A program that needs the libraries named.
    pub fn program(needed: &[&str]) -> Vec<u8> {
        let mut strings = vec![0];
        let mut entries = Vec::new();
        for name in needed {
            entries.push((DT_NEEDED, strings.len() as u64));
            strings.extend(name.as_bytes());
            strings.push(0);
        }
        file(&entries, &strings)
    }

    /// A file with one loaded segment at 0x1000 that holds everything, and the dynamic entries given.
    fn file(entries: &[(u64, u64)], strings: &[u8]) -> Vec<u8> {
        let dynamic_at = 64 + 2 * 56_u64;
        let strings_at = dynamic_at + 16 * (entries.len() as u64 + 2);
        let total = strings_at + strings.len() as u64;
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.resize(64, 0);
        file[0x20..0x28].copy_from_slice(&64_u64.to_le_bytes());
        file[0x36..0x38].copy_from_slice(&56_u16.to_le_bytes());
        file[0x38..0x3a].copy_from_slice(&2_u16.to_le_bytes());
        let segments = [
            (PT_LOAD, 0, 0x1000, total),
            (PT_DYNAMIC, dynamic_at, 0x1000 + dynamic_at, strings_at - dynamic_at),
        ];
        for (kind, offset, address, size) in segments {
            file.extend(kind.to_le_bytes());
            file.extend(0_u32.to_le_bytes());
            for value in [offset, address, address, size, size, 8_u64] {
                file.extend(value.to_le_bytes());
            }
        }
        for (tag, value) in entries.iter().chain(&[(DT_STRTAB, 0x1000 + strings_at), (DT_NULL, 0)]) {
            file.extend(tag.to_le_bytes());
            file.extend(value.to_le_bytes());
        }
        file.extend(strings);
        file
    }

    #[test]
    fn names_are_read_from_the_string_table() {
        let file =
            file(&[(DT_NEEDED, 0), (DT_NEEDED, 4), (DT_SONAME, 8), (DT_RPATH, 12)], b"one\0two\0own\0dir\0");
        let dynamic = dynamic(&file).unwrap();
        assert_eq!(dynamic.needed, ["one", "two"]);
        assert_eq!(dynamic.soname.as_deref(), Some("own"));
        assert_eq!(dynamic.rpath.as_deref(), Some("dir"));
    }

    #[test]
    fn this_program_needs_the_c_library() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let dynamic = dynamic(&file).unwrap();
        assert!(dynamic.needed.iter().any(|name| name.starts_with("libc.so")), "{dynamic:?}");
    }

    #[test]
    fn other_files_and_every_cut_are_refused() {
        assert_eq!(dynamic(b"#!/bin/sh\n"), None);
        assert_eq!(dynamic(b""), None);
        let whole = file(&[(DT_NEEDED, 0)], b"one\0");
        for length in 0..whole.len() {
            assert_eq!(dynamic(&whole[..length]), None, "cut to {length} bytes");
        }
        assert!(dynamic(&whole).is_some());
    }

    #[test]
    fn wild_offsets_are_refused() {
        let mut file = file(&[(DT_NEEDED, u64::MAX)], b"one\0");
        assert_eq!(dynamic(&file), None);
        file[0x20..0x28].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(dynamic(&file), None);
    }
}
