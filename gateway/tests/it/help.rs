//! The command line is a contract: its help texts are a snapshot.

use std::fmt::Write as _;

#[test]
fn the_help_of_every_command() {
    let mut command = haft::cli::command();
    command.build();
    let mut text = String::new();
    render(&mut command, &mut text);
    insta::assert_snapshot!(text);
}

fn render(command: &mut clap::Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    writeln!(text, "# {name}\n\n{}", command.render_help()).unwrap();
    for child in command.get_subcommands_mut().filter(|child| child.get_name() != "help") {
        render(child, text);
    }
}
