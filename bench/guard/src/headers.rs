//! Header cases: stripping a `HeaderMap`, looking up names, and stripping a block.

use std::hint::black_box;

use hedgerow_headers::HeaderSet;
use http::HeaderName;

use crate::case::{Case, Prepared};
use hedgerow_workloads::headers::{Workload, fresh, internal_names, set_of, workloads};

/// Requests per workload.
const REQUESTS: usize = 256;

/// Returns the cases of every workload.
pub fn cases() -> impl Iterator<Item = Case> {
    workloads().into_iter().flat_map(|Workload { name, mut requests }| {
        requests.truncate(REQUESTS);
        let [cleared, looked_up, on_the_wire] = [requests.clone(), requests.clone(), requests];
        [
            Case::new(format!("headers: clear a HeaderMap, {name}"), move || clear(&cleared)),
            Case::new(format!("headers: look up a name, {name}"), move || look_up(looked_up)),
            Case::new(format!("headers: strip a block, {name}"), move || strip_block(&on_the_wire)),
        ]
    })
}

fn set() -> HeaderSet<'static> {
    set_of(internal_names())
}

fn clear(requests: &[Vec<HeaderName>]) -> Prepared {
    let set = set();
    let maps = requests.iter().map(|names| fresh(names)).collect();
    Prepared::each(maps, move |map| {
        black_box(set.strip(map).ok());
    })
}

fn look_up(requests: Vec<Vec<HeaderName>>) -> Prepared {
    let set = set();
    Prepared::each(requests.into_iter().flatten().collect(), move |name| {
        black_box(set.matches_name(name));
    })
}

fn strip_block(requests: &[Vec<HeaderName>]) -> Prepared {
    let set = set();
    Prepared::each(requests.iter().map(|names| block(names)).collect(), move |block| {
        let length = set.strip_block(block).expect("a valid block");
        block.truncate(length);
    })
}

/// Returns the field block of a request.
fn block(names: &[HeaderName]) -> Vec<u8> {
    let lines: String = names.iter().map(|name| format!("{name}: value\r\n")).collect();
    (lines + "\r\n").into_bytes()
}
