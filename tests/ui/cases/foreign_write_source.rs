//! SND-12: what is written to a file has checked lengths, so nobody else can say what can be.
use hipfile::WriteFrom;

#[derive(Debug)]
struct Mine;

impl WriteFrom for Mine {} // refused

fn main() {
    println!("{Mine:?}");
}
