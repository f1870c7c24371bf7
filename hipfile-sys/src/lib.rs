//! Raw bindings to libhipfile, the GPU-direct file I/O library of AMD ROCm
