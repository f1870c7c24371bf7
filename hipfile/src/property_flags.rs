//! What the driver's properties say in bits. C numbers the bits, so each constant here is 1 shifted by one of C's.

use bitflags::bitflags;
use hipfile_sys as sys;

bitflags! {
    /// Kinds of storage that the kernel driver knows: [`Properties::storage`](crate::Properties::storage).
    ///
    /// Bits without a name here are kept.
    ///
    /// ```
    /// use hipfile::StorageFlags;
    ///
    /// let found = StorageFlags::from_bits_retain(1 << 4 | 1 << 30);
    /// assert!(found.contains(StorageFlags::NVME));
    /// assert_eq!(found.bits(), 1 << 4 | 1 << 30);
    /// ```
    #[doc(alias = "hipFileDriverStatusFlags_t")]
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct StorageFlags: u32 {
        /// Lustre.
        #[doc(alias = "hipFileLustreSupported")]
        const LUSTRE = 1 << sys::hipFileLustreSupported.0;
        /// `WekaFS`.
        #[doc(alias = "hipFileWekaFSSupported")]
        const WEKA_FS = 1 << sys::hipFileWekaFSSupported.0;
        /// NFS.
        #[doc(alias = "hipFileNFSSupported")]
        const NFS = 1 << sys::hipFileNFSSupported.0;
        /// GPFS.
        #[doc(alias = "hipFileGPFSSupported")]
        const GPFS = 1 << sys::hipFileGPFSSupported.0;
        /// Local NVMe devices.
        #[doc(alias = "hipFileNVMeSupported")]
        const NVME = 1 << sys::hipFileNVMeSupported.0;
        /// NVMe over fabrics.
        #[doc(alias = "hipFileNVMeoFSupported")]
        const NVME_OF = 1 << sys::hipFileNVMeoFSupported.0;
        /// SCSI.
        #[doc(alias = "hipFileSCSISupported")]
        const SCSI = 1 << sys::hipFileSCSISupported.0;
        /// `ScaleFlux` computational storage.
        #[doc(alias = "hipFileScaleFluxCSDSupported")]
        const SCALE_FLUX = 1 << sys::hipFileScaleFluxCSDSupported.0;
        /// `NVMesh`.
        #[doc(alias = "hipFileNVMeshSupported")]
        const NV_MESH = 1 << sys::hipFileNVMeshSupported.0;
        /// `BeeGFS`.
        #[doc(alias = "hipFileBeeGFSSupported")]
        const BEE_GFS = 1 << sys::hipFileBeeGFSSupported.0;
        /// NVMe devices, peer to peer.
        #[doc(alias = "hipFileNVMeP2PSupported")]
        const NVME_P2P = 1 << sys::hipFileNVMeP2PSupported.0;
        /// `ScaTeFS`.
        #[doc(alias = "hipFileScatefsSupported")]
        const SCATE_FS = 1 << sys::hipFileScatefsSupported.0;
        const _ = !0;
    }
}

bitflags! {
    /// How the driver works: [`Properties::control`](crate::Properties::control).
    ///
    /// Bits without a name here are kept.
    ///
    /// ```
    /// use hipfile::ControlFlags;
    ///
    /// let set = ControlFlags::POLL_MODE | ControlFlags::ALLOW_COMPAT_MODE;
    /// assert_eq!(set.bits(), 0b11);
    /// ```
    #[doc(alias = "hipFileDriverControlFlags_t")]
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct ControlFlags: u32 {
        /// Completions of small transfers are polled for.
        #[doc(alias = "hipFileUsePollMode")]
        const POLL_MODE = 1 << sys::hipFileUsePollMode.0;
        /// Transfers may go through host memory.
        #[doc(alias = "hipFileAllowCompatMode")]
        const ALLOW_COMPAT_MODE = 1 << sys::hipFileAllowCompatMode.0;
        const _ = !0;
    }
}

bitflags! {
    /// What the library can do: [`Properties::features`](crate::Properties::features). [`supports`](crate::supports) also
    /// asks libraries that have no properties.
    ///
    /// Bits without a name here are kept.
    ///
    /// ```
    /// use hipfile::FeatureFlags;
    ///
    /// assert_eq!((FeatureFlags::BATCH | FeatureFlags::STREAMS).bits(), 0b110);
    /// ```
    #[doc(alias = "hipFileFeatureFlags_t")]
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct FeatureFlags: u32 {
        /// The path is chosen by where devices are in the machine.
        #[doc(alias = "hipFileDynRoutingSupported")]
        const DYNAMIC_ROUTING = 1 << sys::hipFileDynRoutingSupported.0;
        /// Batches.
        #[doc(alias = "hipFileBatchIOSupported")]
        const BATCH = 1 << sys::hipFileBatchIOSupported.0;
        /// Transfers on streams.
        #[doc(alias = "hipFileStreamsSupported")]
        const STREAMS = 1 << sys::hipFileStreamsSupported.0;
        /// One transfer done by several threads.
        #[doc(alias = "hipFileParallelIOSupported")]
        const PARALLEL_IO = 1 << sys::hipFileParallelIOSupported.0;
        const _ = !0;
    }
}
