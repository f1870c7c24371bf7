//! libhipfile 0.5 in software, over the C ABI of HIP alone
