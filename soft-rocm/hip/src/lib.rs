//! libamdhip64 in software: the slice of HIP that hipFile and hip-alloc need
