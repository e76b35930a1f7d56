//! The command `answers`, with which other readers are compared.

use std::{
    fs,
    io::Write,
    process::{Command, Output, Stdio},
};

use crate::support::files::PATHMAP;

/// Runs the command on a file with this name and content.
fn answers(name: &str, file: &str, keys: &[u8]) -> Output {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&path, file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_answers"));
    command.arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // This fails if the command has refused the file and exited.
    let _ = child.stdin.take().unwrap().write_all(keys);
    child.wait_with_output().unwrap()
}

#[test]
fn each_line_is_a_key() {
    let keys = b"/foo\n/nope\n\n\xff\xfe\n/foo\r\n/foo/bar\n/apple/pie";
    let output = answers("answers", PATHMAP, keys);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n0\n0\n0\n0\n1\n1\n");
    assert!(output.status.success());
}

#[test]
fn a_refused_file_is_reported_in_one_line() {
    let output = answers("refused", &PATHMAP.replace('4', ""), b"/foo\n");
    let message = "answers: expected an integer from 0 to 2^53 - 1, found 0x2c at byte 31\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), message);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(output.status.code(), Some(2));
}
