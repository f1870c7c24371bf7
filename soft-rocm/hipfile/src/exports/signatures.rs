//! Proof that the functions here have the types that the header declares: an array holds values of one type only.

use hipfile_sys as sys;

macro_rules! declared {
    ($($module:ident: $($function:ident)*;)*) => {
        $($(const _: () = {
            let _ = [sys::$function, super::$module::$function];
        };)*)*
    };
}

declared! {
    texts: hipFileGetOpErrorString hipFileGetVersion;
    driver: hipFileDriverOpen hipFileDriverClose hipFileUseCount;
    files: hipFileHandleRegister hipFileHandleDeregister;
    buffers: hipFileBufRegister hipFileBufDeregister;
    synchronous: hipFileRead hipFileWrite;
    asynchronous: hipFileReadAsync hipFileWriteAsync;
    streams: hipFileStreamRegister hipFileStreamDeregister;
    batch: hipFileBatchIOSetUp hipFileBatchIOSubmit hipFileBatchIOGetStatus hipFileBatchIOCancel
        hipFileBatchIODestroy;
    properties: hipFileDriverGetProperties hipFileDriverSetPollMode hipFileDriverSetMaxDirectIOSize
        hipFileDriverSetMaxCacheSize hipFileDriverSetMaxPinnedMemSize;
    parameters: hipFileGetParameterSizeT hipFileGetParameterBool hipFileGetParameterString
        hipFileSetParameterSizeT hipFileSetParameterBool hipFileSetParameterString;
}

#[cfg(feature = "v0_5")]
declared! {
    statistics: hipFileGetStatsL1 hipFileGetStatsL2 hipFileGetStatsL3;
}
