//! Asks the model what the library should have said, and names the outcome for the table.

use crate::call::{Answer, Call, Name, Submission};
use crate::model::Model;
use crate::table::Table;

/// Whether the driver is open, before a call.
fn state(model: &Model) -> &'static str {
    match model.use_count {
        0 => "closed",
        _ if model.held_files.is_empty() && !model.unsettled() => "open",
        _ => "in flight",
    }
}

fn code(code: u32) -> String {
    if code == 0 { "OK".into() } else { code.to_string() }
}

/// Compares the library's answer with the model's, and counts it.
pub fn judge(model: &mut Model, table: &mut Table, call: &Call, answer: &Answer) -> Result<(), String> {
    let state = state(model);
    let mut simple = |function: &str, expected: u32| {
        table.hit(function, state, &code(expected));
        same(&Answer::Status(expected, 0), answer)
    };
    match call {
        Call::Open => {
            model.use_count += 1;
            simple("DriverOpen", 0)
        }
        Call::Close => {
            let expected = model.close();
            simple("DriverClose", expected)
        }
        Call::Toggle => {
            model.toggled_open = !model.toggled_open;
            Ok(())
        }
        Call::RegisterFile(slot, kind) => {
            let expected = model.register_file(*slot, *kind);
            simple("HandleRegister", expected)
        }
        Call::DeregisterFile(file) => {
            let outcome = model.deregister_file(*file);
            table.hit("HandleDeregister", state, outcome);
            Ok(())
        }
        Call::RegisterBuffer(pointer, length) => {
            let expected = model.register_buffer(*pointer, *length);
            simple("BufRegister", expected)
        }
        Call::DeregisterBuffer(pointer) => {
            let expected = model.deregister_buffer(*pointer);
            simple("BufDeregister", expected)
        }
        Call::Move(transfer) => {
            let (moved, errno) = model.transfer(transfer);
            let function = if transfer.write { "Write" } else { "Read" };
            table.hit(function, state, &moved_outcome(moved, errno, transfer.size));
            same(&Answer::Moved(moved, errno), answer)
        }
        Call::RegisterStream(stream, flags) => {
            let expected = model.register_stream(*stream, *flags);
            simple("StreamRegister", expected)
        }
        Call::DeregisterStream(stream) => {
            let expected = model.deregister_stream(*stream);
            simple("StreamDeregister", expected)
        }
        Call::Submit { stream, submissions, meanwhile } => {
            submitted(model, table, (*stream, submissions, meanwhile), answer)
        }
        Call::SetUp { capacity, nowhere } => {
            let expected = model.set_up(*capacity, *nowhere);
            simple("BatchIOSetUp", expected)
        }
        Call::SubmitBatch { batch, count, entries } => {
            let expected = model.submit_batch(*batch, *count, entries.as_deref());
            simple("BatchIOSubmit", expected)
        }
        Call::Status { batch, least, room, wait } => {
            let expected = model.status(*batch, *least, *room, *wait);
            table.hit("BatchIOGetStatus", state, &code(expected));
            let Answer::Events(status, count, events) = answer else { return Err("no events".into()) };
            same(&Answer::Status(expected, 0), &Answer::Status(status.0, status.1))?;
            if expected != 0 {
                return if count == room { Ok(()) } else { Err(format!("*nr was changed to {count}")) };
            }
            for (_, status, _) in events {
                table.hit("(event)", "in flight", &status.to_string());
            }
            model.deliver(*batch, (*least, *room, *wait), events)
        }
        Call::Cancel(batch) => {
            let expected = model.cancel(*batch);
            simple("BatchIOCancel", expected)
        }
        Call::Destroy(batch) => {
            let outcome = if model.destroy(*batch) { "destroyed" } else { "ignored" };
            table.hit("BatchIODestroy", state, outcome);
            Ok(())
        }
        Call::Stub(_) => simple("(not implemented)", 5030),
    }
}

fn same(expected: &Answer, answer: &Answer) -> Result<(), String> {
    if expected == answer { Ok(()) } else { Err(format!("{answer:?}, expected {expected:?}")) }
}

fn moved_outcome(moved: isize, errno: i32, size: usize) -> String {
    match moved {
        -1 if errno == libc::EINVAL => "EINVAL".into(),
        -1 => "errno".into(),
        0 => "0".into(),
        moved if moved < 0 => moved.to_string(),
        moved if moved as usize == size => "all".into(),
        _ => "short".into(),
    }
}

fn submitted(
    model: &mut Model,
    table: &mut Table,
    (stream, submissions, meanwhile): (usize, &[Submission], &[Call]),
    answer: &Answer,
) -> Result<(), String> {
    let Answer::Submitted(statuses, first, last, said) = answer else { return Err("not submitted".into()) };
    let mut queue = Vec::new();
    for (i, submission) in submissions.iter().enumerate() {
        let state = state(model);
        let (expected, queued) = model.submit(stream, submission);
        let function = if submission.transfer.write { "WriteAsync" } else { "ReadAsync" };
        table.hit(function, state, &code(expected));
        same(&Answer::Status(expected, 0), &Answer::Status(statuses[i].0, statuses[i].1))?;
        let untouched = expected != 0 || submission.null == Some(3);
        let written = if untouched { hipfile_tests::engine::UNWRITTEN } else { 0 };
        if first[i] != written {
            return Err(format!("*bytes_p was {} after the submission, expected {written}", first[i]));
        }
        queue.push((function, submission.transfer.size, expected, queued));
    }
    for (call, said) in meanwhile.iter().zip(said) {
        judge(model, table, call, said).map_err(|error| format!("meanwhile {call:?}: {error}"))?;
    }
    for (i, (function, size, code, queued)) in queue.iter().enumerate() {
        let expected = queued.as_ref().map_or(first[i], |queued| model.arrive(queued));
        if *code == 0 {
            let outcome = if expected == -1 { "-1".into() } else { moved_outcome(expected, 0, *size) };
            table.hit(&format!("({function}, later)"), "in flight", &outcome);
        }
        if last[i] != expected {
            return Err(format!("the {i}. submission gave {}, expected {expected}", last[i]));
        }
    }
    model.let_go();
    Ok(())
}

/// Whether a call may end operations of a batch without their events, so that nobody knows which of them ran.
pub fn loses_events(model: &mut Model, call: &Call) -> bool {
    match call {
        Call::Destroy(batch) => busy(model, *batch),
        Call::Close => model.use_count == 1 && model.unsettled(),
        _ => false,
    }
}

fn busy(model: &mut Model, batch: Name) -> bool {
    model.batch(batch).is_some_and(|batch| !batch.outstanding.is_empty())
}
