//! What a registered stream promises about its transfers.

use bitflags::bitflags;
use hipfile_sys as sys;

bitflags! {
    /// What a [`RegisteredStream`](crate::RegisteredStream) promises about its transfers.
    ///
    /// A value that is fixed is read when the transfer is submitted and not again, which spares the stream work. Only
    /// [late values](crate::Request::late) need values that are not.
    ///
    /// ```
    /// use hipfile::StreamFlags;
    ///
    /// let all = StreamFlags::FIXED_VALUES | StreamFlags::PAGE_ALIGNED;
    /// assert!(all.contains(StreamFlags::FIXED_SIZE));
    /// assert_eq!(all.bits(), 0xf);
    /// ```
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct StreamFlags: u32 {
        /// The offset into the memory does not change after submission.
        #[doc(alias = "HIPFILE_STREAM_FIXED_BUF_OFFSET")]
        const FIXED_BUFFER_OFFSET = sys::HIPFILE_STREAM_FIXED_BUF_OFFSET;
        /// The offset into the file does not change after submission.
        #[doc(alias = "HIPFILE_STREAM_FIXED_FILE_OFFSET")]
        const FIXED_FILE_OFFSET = sys::HIPFILE_STREAM_FIXED_FILE_OFFSET;
        /// The number of bytes does not change after submission.
        #[doc(alias = "HIPFILE_STREAM_FIXED_FILE_SIZE")]
        const FIXED_SIZE = sys::HIPFILE_STREAM_FIXED_FILE_SIZE;
        /// Offsets and sizes are multiples of the page size. No release of libhipfile makes use of it.
        #[doc(alias = "HIPFILE_STREAM_PAGE_ALIGNED_INPUTS")]
        const PAGE_ALIGNED = sys::HIPFILE_STREAM_PAGE_ALIGNED_INPUTS;
        /// Offsets and size do not change after submission.
        const FIXED_VALUES =
            Self::FIXED_BUFFER_OFFSET.bits() | Self::FIXED_FILE_OFFSET.bits() | Self::FIXED_SIZE.bits();
    }
}
