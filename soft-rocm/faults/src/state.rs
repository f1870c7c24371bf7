//! The plan in force in this library: from `SOFT_ROCM_FAULTS` at first use, or what was set since.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::{env, thread};

use crate::error::SpecError;
use crate::plan::{Call, Effect, Fault, Plan};
use crate::points::{Owner, Point};

const VARIABLE: &str = "SOFT_ROCM_FAULTS";

/// Nobody asked yet.
const UNREAD: u8 = 0;
/// There is no plan.
const NONE: u8 = 1;
/// There is one.
const PLANNED: u8 = 2;
/// The variable has a value that is not accepted.
const REFUSED: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(UNREAD);
static PLAN: RwLock<Option<Arc<Plan>>> = RwLock::new(None);

/// The variable has a value that is not accepted, so the library answers nothing but errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Whether there is no plan: then nothing happens to any call, and this load is all it costs.
#[inline]
#[must_use]
pub fn idle() -> bool {
    STATE.load(Ordering::Relaxed) == NONE
}

/// What happens to a call, after it has waited as long as it should.
///
/// # Errors
///
/// [`Refused`] if the environment's plan is not accepted.
#[cold]
pub fn hit(point: Point, call: &Call<'_>) -> Result<Option<Fault>, Refused> {
    let Some(plan) = current()? else { return Ok(None) };
    let effect = plan.ask(point, call);
    if !effect.delay.is_zero() {
        thread::sleep(effect.delay);
    }
    if effect.pause {
        plan.gate.wait();
    }
    Ok(effect.fault)
}

/// What is to happen to a call, for a caller that delays and pauses by itself.
#[must_use]
pub fn ask(point: Point, call: &Call<'_>) -> Effect {
    if idle() {
        return Effect::default();
    }
    current().ok().flatten().map(|plan| plan.ask(point, call)).unwrap_or_default()
}

/// Whether the plan names a point whose name starts so, or is not accepted.
#[must_use]
pub fn names(start: &str) -> bool {
    match current() {
        Ok(plan) => plan.is_some_and(|plan| plan.points().any(|point| point.name().starts_with(start))),
        Err(Refused) => true,
    }
}

/// Lets the calls go that are paused now.
pub fn resume() {
    if let Some(plan) = &*PLAN.read().unwrap_or_else(PoisonError::into_inner) {
        plan.gate.open();
    }
}

/// How many calls are paused now.
#[must_use]
pub fn held() -> usize {
    PLAN.read().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |plan| plan.gate.waiting())
}

/// How many calls an entry of the plan in force has counted, by its number from 1; 0 if there is no such entry.
#[must_use]
pub fn counted(entry: usize) -> usize {
    let plan = PLAN.read().unwrap_or_else(PoisonError::into_inner);
    plan.as_ref().map_or(0, |plan| usize::try_from(plan.counted(entry)).unwrap_or(usize::MAX))
}

/// Replaces the plan of the library that `owner` names; its counters start from 0 and paused calls go on. An empty text
/// is no plan.
///
/// # Errors
///
/// Which entry is not accepted, or that its point is in the other library; the plan in force then stays.
pub fn set(owner: Owner, spec: &[u8]) -> Result<(), SpecError> {
    let plan = Plan::parse(spec)?;
    for (number, named) in (1..).zip(plan.points()) {
        let (other, library) = match owner {
            Owner::Hip => (Owner::Hipfile, "libhipfile; softrocm_hipfile_set_faults"),
            _ => (Owner::Hip, "libamdhip64; softrocm_hip_set_faults"),
        };
        if named.owner() == other {
            let message = format!("{} is in {library} sets it", named.name());
            return Err(SpecError::in_entry(number, named.name(), message));
        }
    }
    install(&mut write(), plan);
    Ok(())
}

fn install(place: &mut RwLockWriteGuard<'_, Option<Arc<Plan>>>, plan: Plan) {
    let (plan, state) = if plan.is_empty() { (None, NONE) } else { (Some(Arc::new(plan)), PLANNED) };
    let before = std::mem::replace(&mut **place, plan);
    STATE.store(state, Ordering::Relaxed);
    if let Some(before) = before {
        before.gate.remove();
    }
}

fn current() -> Result<Option<Arc<Plan>>, Refused> {
    if STATE.load(Ordering::Relaxed) == UNREAD {
        read_variable();
    }
    if STATE.load(Ordering::Relaxed) == REFUSED {
        return Err(Refused);
    }
    Ok(PLAN.read().unwrap_or_else(PoisonError::into_inner).clone())
}

fn read_variable() {
    let mut place = write();
    if STATE.load(Ordering::Relaxed) != UNREAD {
        return;
    }
    let value = env::var_os(VARIABLE).unwrap_or_default();
    match Plan::parse(value.as_encoded_bytes()) {
        Ok(plan) => install(&mut place, plan),
        Err(error) => {
            // Without a place to write to, the error codes have to do.
            let _ = writeln!(std::io::stderr(), "soft-rocm: {VARIABLE}: {error}");
            STATE.store(REFUSED, Ordering::Relaxed);
        }
    }
}

fn write() -> RwLockWriteGuard<'static, Option<Arc<Plan>>> {
    PLAN.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::point;
    use std::time::Instant;

    /// One test: the state is the process's.
    #[test]
    fn a_plan_is_in_force_until_it_is_replaced() {
        assert!(!idle());
        assert_eq!(hit(point::pread, &Call::PLAIN), Ok(None));
        assert!(idle(), "the variable is not set");
        assert_eq!(ask(point::pread, &Call::PLAIN), Effect::default());

        set(Owner::Hip, b"pread:errno=EIO@2;hipMemcpy:delay=20ms;stream:pause").unwrap();
        assert!(!idle());
        assert!(names("hipMem"));
        assert!(!names("hipMemset"));
        assert_eq!(hit(point::pread, &Call::PLAIN), Ok(None));
        let error = set(Owner::Hip, b"pread:errno=EIO;hipFileRead:delay=1s").unwrap_err().to_string();
        assert_eq!(
            error,
            "entry 2, `hipFileRead`: hipFileRead is in libhipfile; softrocm_hipfile_set_faults sets it"
        );
        assert_eq!(hit(point::pread, &Call::PLAIN), Ok(Some(Fault::Errno(5))), "the plan has stayed");

        assert_eq!([0, 1, 2, 3, 4].map(counted), [0, 2, 0, 0, 0]);

        let started = Instant::now();
        assert_eq!(hit(point::hipMemcpy, &Call::PLAIN), Ok(None));
        assert!(started.elapsed() >= std::time::Duration::from_millis(20));

        let paused = || thread::spawn(|| hit(point::stream, &Call::PLAIN));
        let wait = |count| {
            while held() != count {
                thread::yield_now();
            }
        };
        let first = paused();
        wait(1);
        resume();
        assert_eq!(first.join().unwrap(), Ok(None));
        let second = paused();
        wait(1);
        set(Owner::Hip, b"").unwrap();
        assert_eq!(second.join().unwrap(), Ok(None));
        assert!(idle());
        assert_eq!(held(), 0);

        let error = set(Owner::Hipfile, b"hipMalloc:hip=2").unwrap_err().to_string();
        assert!(error.ends_with("hipMalloc is in libamdhip64; softrocm_hip_set_faults sets it"), "{error}");
    }
}
