//! Builds the software ROCm prefix before tests that need it
