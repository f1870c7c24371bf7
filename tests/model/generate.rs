//! What to call next: mostly what makes sense, often what does not.

use std::time::Duration;

use crate::call::{Call, Entry, Kind, Name, Pointer, Submission, Transfer, Wait};
use crate::model::{ALLOCATION, FILES, Model, SLOTS};
use crate::random::Random;
use crate::world::STUBS;

/// A file does not grow beyond.
const LARGEST: i64 = 20 << 10;

/// The part of file and buffer that an operation of a batch has to itself.
const LANE: usize = 512;
const LANES: usize = 16;

/// So many calls are made with the driver mostly open, then as many with it mostly closed.
const PHASE: usize = 100;

/// The call to make after so many others.
pub fn call(random: &mut Random, model: &Model, others: usize) -> Call {
    let closing = others / PHASE % 4 == 3;
    if closing && model.use_count > 0 && random.one_in(3) {
        return Call::Close;
    }
    if model.unsettled() {
        return unsettled(random, model);
    }
    if closing && model.use_count == 0 && !random.one_in(8) {
        return closed(random, model);
    }
    match random.below(24) {
        0 => Call::Open,
        // Closing is rarer than what opens, so that there is time for the rest.
        1 if random.one_in(3) || model.use_count > 3 => Call::Close,
        2 => Call::Toggle,
        1 | 3..=5 => Call::RegisterFile(random.below(SLOTS.len()), kind(random)),
        6 => Call::DeregisterFile(file(random, model)),
        7..=9 => Call::RegisterBuffer(pointer(random), length(random)),
        10 => Call::DeregisterBuffer(pointer(random)),
        11..=14 => Call::Move(transfer(random, model)),
        15 => Call::RegisterStream(random.below(2), random.pick(&[0, 1, 2, 4, 7, 15, 16, u32::MAX])),
        16 => Call::DeregisterStream(random.below(2)),
        17 | 18 => submit(random, model),
        19 => Call::SetUp { capacity: random.pick(&[0, 1, 2, 4, 16, 128, 129]), nowhere: random.one_in(8) },
        20 | 21 => submit_batch(random, model),
        22 => any_batch(random, model),
        _ => Call::Stub(random.below(STUBS)),
    }
}

/// What leaves a closed driver closed.
fn closed(random: &mut Random, model: &Model) -> Call {
    match random.below(14) {
        0 => Call::Close,
        1 => Call::RegisterFile(6 + random.below(2), Kind::File),
        2 => Call::RegisterFile(0, random.pick(&[Kind::Type(2), Kind::NoHandle])),
        3 => Call::DeregisterFile(file(random, model)),
        4 => Call::DeregisterBuffer(pointer(random)),
        5 | 6 => Call::Move(transfer(random, model)),
        7 => Call::RegisterStream(random.below(2), random.pick(&[0, 7, 16])),
        8 => Call::DeregisterStream(random.below(2)),
        9 => Call::SetUp { capacity: random.pick(&[0, 1, 4]), nowhere: false },
        10 | 11 => submit_batch(random, model),
        12 => any_batch(random, model),
        _ => Call::Stub(random.below(STUBS)),
    }
}

/// While operations of a batch may be running, nothing is called whose outcome depends on whether they are.
fn unsettled(random: &mut Random, model: &Model) -> Call {
    match random.below(12) {
        0 => Call::Open,
        1 if random.one_in(4) => Call::Close,
        2 => Call::SetUp { capacity: random.pick(&[0, 1, 16]), nowhere: false },
        3..=5 => submit_batch(random, model),
        _ => any_batch(random, model),
    }
}

fn kind(random: &mut Random) -> Kind {
    match random.below(12) {
        0 => Kind::Type(random.pick(&[0, 2, 3, 77])),
        1 => random.pick(&[Kind::NoHandle, Kind::NoDescription]),
        _ => Kind::File,
    }
}

fn file(random: &mut Random, model: &Model) -> Name {
    match random.below(10) {
        0 => random.pick(&[Name::Null, Name::Never]),
        1 if model.given > 0 => Name::Given(random.below(model.given)),
        _ if model.handles.is_empty() => Name::Never,
        _ => Name::Given(random.pick(&model.handles).0),
    }
}

fn pointer(random: &mut Random) -> Pointer {
    match random.below(16) {
        0 => Pointer::Null,
        1 => Pointer::Host,
        number => Pointer::Device(number % 2, random.pick(&[0, 0, 4096, 4100, ALLOCATION - 1])),
    }
}

fn length(random: &mut Random) -> usize {
    random.pick(&[0, 1, 4096, 4096, 8192, ALLOCATION - 4096, ALLOCATION, ALLOCATION + 1, usize::MAX])
}

fn transfer(random: &mut Random, model: &Model) -> Transfer {
    let size = random.pick(&[0, 1, 100, 512, 4096, 4097, 8192, ALLOCATION, ALLOCATION + 1, usize::MAX]);
    let near_end = model.files[random.below(FILES)].len() as i64 - 50;
    let file_offset =
        random.pick(&[0, 0, 1, 512, 4096, near_end, near_end, LARGEST - 8192, LARGEST, -1, i64::MIN]);
    let buffer_offset = random.pick(&[0, 0, 0, 1, 512, 4095, 4096, ALLOCATION as i64, -1, i64::MAX]);
    let write = random.one_in(3) && file_offset < LARGEST;
    Transfer { write, file: file(random, model), base: pointer(random), size, file_offset, buffer_offset }
}

fn submit(random: &mut Random, model: &Model) -> Call {
    let stream = random.below(2);
    let mut submissions = Vec::new();
    for _ in 0..=random.below(3) {
        let transfer = transfer(random, model);
        let null = random.one_in(16).then(|| random.below(4));
        let late = random.one_in(2).then(|| {
            let other = self::transfer(random, model);
            // As wrong as it gets, but a write stays short of the largest file.
            let file_offset = if transfer.write { other.file_offset.min(4096) } else { other.file_offset };
            (other.size.min(transfer.size.saturating_add(1)), file_offset, other.buffer_offset)
        });
        submissions.push(Submission { transfer, null, late });
    }
    let mut meanwhile = Vec::new();
    for _ in 0..random.below(4) {
        let about = submissions[random.below(submissions.len())].transfer;
        meanwhile.push(match random.below(10) {
            0..=2 => Call::DeregisterBuffer(about.base),
            3..=5 => Call::DeregisterFile(about.file),
            6 if random.one_in(4) => Call::Close,
            6 => {
                Call::RegisterBuffer(random.pick(&[about.base, Pointer::Null, Pointer::Host]), length(random))
            }
            _ => Call::RegisterFile(random.below(SLOTS.len()), Kind::File),
        });
    }
    Call::Submit { stream, submissions, meanwhile }
}

/// Mostly a batch that lives, and one with something outstanding where there is one.
fn batch(random: &mut Random, model: &Model) -> Name {
    let busy = model.batches.iter().find(|(_, batch)| !batch.outstanding.is_empty());
    match random.below(10) {
        0 => random.pick(&[Name::Null, Name::Never]),
        1 if model.made > 0 => Name::Given(random.below(model.made)),
        _ if model.batches.is_empty() => Name::Never,
        number => {
            let any = &model.batches[random.below(model.batches.len())];
            Name::Given(busy.filter(|_| number < 8).unwrap_or(any).0)
        }
    }
}

fn submit_batch(random: &mut Random, model: &Model) -> Call {
    let batch = batch(random, model);
    let outstanding = model.batches.iter().flat_map(|(_, batch)| &batch.outstanding);
    let taken: Vec<usize> = outstanding.map(|entry| entry.cookie % LANES).collect();
    let mut lanes: Vec<usize> = (0..LANES).filter(|lane| !taken.contains(lane)).collect();
    let count = random.below(lanes.len().min(8) + 1);
    let mut entries = Vec::new();
    for _ in 0..count {
        let lane = lanes.swap_remove(random.below(lanes.len()));
        entries.push(entry(random, model, lane));
    }
    let entries = (!random.one_in(20)).then_some(entries);
    Call::SubmitBatch { batch, count: count as u32, entries }
}

/// An operation that touches nothing but its lane.
fn entry(random: &mut Random, model: &Model, lane: usize) -> Entry {
    let at = (lane * LANE) as i64;
    let mut transfer = Transfer {
        // All lanes lie within the files, so that no write moves the end which others read up to.
        write: random.one_in(3),
        file: file(random, model),
        base: Pointer::Device(0, 0),
        size: random.pick(&[0, 1, LANE, LANE]),
        file_offset: at,
        buffer_offset: at,
    };
    let mut entry = Entry { transfer, mode: 1, opcode: None, cookie: lane };
    match random.below(64) {
        0 => transfer.base = random.pick(&[Pointer::Null, Pointer::Host]),
        1 => transfer.size = random.pick(&[ALLOCATION + 1, usize::MAX]),
        2 => transfer.file_offset = -1,
        3 => transfer.buffer_offset = random.pick(&[-1, ALLOCATION as i64]),
        4 => entry.mode = random.pick(&[0, 2]),
        5 => entry.opcode = Some(2),
        6 | 7 if !transfer.write => transfer.file_offset = LARGEST + at,
        _ => {}
    }
    Entry { transfer, ..entry }
}

fn any_batch(random: &mut Random, model: &Model) -> Call {
    let batch = batch(random, model);
    match random.below(10) {
        0 => Call::Cancel(batch),
        1 => Call::Destroy(batch),
        _ => Call::Status {
            batch,
            least: random.pick(&[0, 0, 1, 2, 16, 200]),
            room: random.pick(&[0, 1, 2, 16, 16, 16, 200]),
            wait: random.pick(&[
                Wait::Forever,
                Wait::Forever,
                Wait::Short(Duration::ZERO),
                Wait::Short(Duration::from_micros(50)),
                Wait::Invalid,
            ]),
        },
    }
}
