//! Safe GPU-direct file I/O for AMD GPUs over libhipfile
