//! The command `answers`, with which other readers are compared.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use crate::support::files::PATHMAP;

/// Writes a file, and returns its path.
fn written(name: &str, content: &[u8]) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&path, content).unwrap();
    path
}

/// Runs the command on these lines, and returns those that it prints.
fn answers(lines: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_answers"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn answers_each_line_of_a_file_of_keys() {
    let filter = written("answers", PATHMAP.as_bytes());
    let keys = written("keys", b"/foo\n/nope\n\n\xff\xfe\n/foo\r\n/foo/bar\n/apple/pie");
    assert_eq!(answers(&format!("{filter}\t{keys}\n")), "1000011\n");
}

#[test]
fn reports_errors_in_one_line_and_goes_on() {
    let filter = written("valid", PATHMAP.as_bytes());
    let rejected = written("rejected", PATHMAP.replace("138", "-1").as_bytes());
    let keys = written("key", b"/foo\n");
    let lines = format!("{rejected}\t{keys}\nno tab\n{filter}\t{keys}\n");
    let message = "error: expected m to be an integer of at most 4294967295";
    assert_eq!(answers(&lines), format!("{message}\nerror: expected two paths, found no tab\n1\n"));
}
