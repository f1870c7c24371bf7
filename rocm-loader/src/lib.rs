//! Where ROCm is: search order for prefixes and run-time loading of its libraries
