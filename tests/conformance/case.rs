//! What a case is: a row of docs/src/contract.md, or a few that are shown by the same calls.

/// What the ROCm or the machine must have for a case to mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `hipAmdFileRead` and `hipAmdFileWrite`: without them there is no fast path.
    Ais,
    /// `hipFileGetStats…`, from 0.5.
    Stats,
    /// A libhipfile from that version on.
    Since(u32, u32),
    /// A libhipfile up to that version.
    Until(u32, u32),
    /// The software libhipfile: AMD's behaves otherwise.
    Ours,
    /// The software libamdhip64.
    OurHip,
    /// AMD's libhipfile, or the software one when told to imitate it.
    Amds,
    /// A function of HIP that is not everywhere.
    Hip(&'static str),
    /// A second device, which the software HIP has when told to.
    SecondDevice,
    /// A temporary folder on ext4 (ordered) or xfs, where the fast path is permitted.
    PermittedFileSystem,
    /// Loop devices and file systems of its own, which root alone can make, and not everywhere.
    LoopDevice,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Ids, then what they say: `HF-READ-04 a NULL handle is −5027`.
    pub name: String,
    /// What to add to the environment of its process.
    pub environment: Vec<(&'static str, String)>,
    /// Whether its process gets the shim.
    pub shim: bool,
    /// What it needs.
    pub needs: Vec<Need>,
    /// The exit status its process must have.
    pub status: i32,
    /// What it does. A panic is a failure.
    pub run: fn(),
}

/// A case that needs nothing special.
pub fn case(name: impl Into<String>, run: fn()) -> Case {
    Case { name: name.into(), environment: Vec::new(), shim: false, needs: Vec::new(), status: 0, run }
}

impl Case {
    /// Adds a variable to the environment of the case.
    pub fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Puts the shim in front of HIP and libc.
    pub fn shim(mut self) -> Self {
        self.shim = true;
        self
    }

    /// Says what the case needs.
    pub fn needs(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }

    /// The case holds from that version on.
    pub fn since(self, major: u32, minor: u32) -> Self {
        self.needs(Need::Since(major, minor))
    }

    /// The case holds up to that version.
    pub fn until(self, major: u32, minor: u32) -> Self {
        self.needs(Need::Until(major, minor))
    }

    /// The case is what AMD's library does and the software one mends, unless told to imitate it.
    pub fn amds(self) -> Self {
        self.needs(Need::Amds).env("SOFT_ROCM_QUIRKS", "amd")
    }

    /// The case is about the fast path: HIP must have it, and it is permitted on every file system, so that the
    /// case does not depend on where the temporary folder lies.
    pub fn fast(self) -> Self {
        self.needs(Need::Ais).env("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")
    }

    /// The case is about the fallback, and nothing else may serve.
    pub fn fallback(self) -> Self {
        self.env("HIPFILE_FORCE_COMPAT_MODE", "true")
    }

    /// The case is about the fallback where HIP has no host address for device memory, as AMD's has none: the bytes go
    /// through a buffer and `hipMemcpy`.
    pub fn bounced(self) -> Self {
        self.fallback().shim().env("HFSHIM_HIDE", "softrocm_host_address")
    }

    /// The exit status that the process ends with.
    pub fn ends_with(mut self, status: i32) -> Self {
        self.status = status;
        self
    }

    /// The ids in the name.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.name.split_whitespace().take_while(|word| word.starts_with("HF-"))
    }
}
