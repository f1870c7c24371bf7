//! How long operations took: a histogram whose buckets grow with the values.

use std::time::Duration;

use serde::Serialize;

/// Buckets for each power of two: a value is known to a 128th of itself.
const PARTS: u64 = 128;

/// Its logarithm.
const BITS: u32 = PARTS.trailing_zeros();

/// Times of operations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: Duration,
    most: Duration,
}

/// What is told of them, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub p99_9: f64,
    pub max: f64,
}

impl Histogram {
    /// Takes in the time of one operation.
    pub fn record(&mut self, time: Duration) {
        let bucket = bucket(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.total += 1;
        self.sum += time;
        self.most = self.most.max(time);
    }

    /// Takes in all of another.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// All that is told.
    pub fn latency(&self) -> Latency {
        let mean = if self.total == 0 { 0.0 } else { micros(self.sum) / self.total as f64 };
        let at = |share| micros(self.quantile(share));
        Latency { mean, p50: at(0.5), p95: at(0.95), p99: at(0.99), p99_9: at(0.999), max: micros(self.most) }
    }

    /// A time that this share of the operations did not exceed.
    fn quantile(&self, share: f64) -> Duration {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map_or(Duration::ZERO, |bucket| Duration::from_nanos(highest(bucket)).min(self.most))
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Values below [`PARTS`] have a bucket each; above, each power of two has as many as [`PARTS`].
fn bucket(nanos: u64) -> usize {
    let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS + 1);
    let bucket = u64::from(shift) * PARTS + (nanos >> shift);
    usize::try_from(bucket).unwrap_or(usize::MAX)
}

/// The highest value in a bucket.
fn highest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / PARTS).saturating_sub(1);
    let part = bucket - shift * PARTS;
    // Above the highest bucket there is nothing: the sum would be 2^64.
    u64::try_from((u128::from(part + 1) << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_narrow_and_in_order() {
        let values = (0..400).chain((9..64).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + 1, power + power / 3]
        }));
        let mut last = 0;
        for value in values.chain([u64::MAX]) {
            let bucket = bucket(value);
            let above = highest(bucket);
            assert!(above >= value && above - value <= value / 64, "{value} {above}");
            assert!(bucket >= last || value < 1 << 20, "{value}");
            last = bucket;
        }
        assert_eq!(bucket(highest(bucket(123_456)) + 1), bucket(123_456) + 1);
    }

    #[test]
    fn percentiles_of_a_thousand() {
        let (mut low, mut high) = (Histogram::default(), Histogram::default());
        for micros in 1..=1000 {
            let half = if micros <= 500 { &mut low } else { &mut high };
            half.record(Duration::from_micros(micros));
        }
        low.merge(&high);
        let latency = low.latency();
        assert_eq!(low.total(), 1000);
        assert!((latency.mean - 500.5).abs() < 1e-6);
        let near = |value: f64, expected: f64| (value - expected).abs() <= expected / 64.0;
        assert!(near(latency.p50, 500.0) && near(latency.p95, 950.0), "{latency:?}");
        assert!(near(latency.p99, 990.0) && near(latency.p99_9, 999.0), "{latency:?}");
        assert!((latency.max - 1000.0).abs() < 1e-9);
        assert_eq!(Histogram::default().latency(), Latency::default());
    }
}
