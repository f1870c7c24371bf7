//! SND-12: what a file is read into has checked lengths, so nobody else can say what can be.
use hipfile::ReadInto;

#[derive(Debug)]
struct Mine;

impl ReadInto for Mine {} // refused

fn main() {
    println!("{Mine:?}");
}
