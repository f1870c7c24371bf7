//! Safe ownership of AMD GPU memory over HIP
