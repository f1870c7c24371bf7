//! Builds, tests and runs the workspace: `cargo xtask help` lists the commands.

mod audit;
mod bench;
mod cargo;
mod ci;
mod codegen;
mod command;
mod demo;
mod doctor;
mod elf;
mod elsewhere;
mod env;
mod faulty_copy;
mod fuzz;
mod install;
mod lock;
mod needed;
mod package;
mod pkgconfig;
mod public_api;
mod release;
mod rocm;
mod run;
mod semver;
mod skipped;
mod soft_rocm;
mod test;
mod tidy;
mod without_rocm;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What every command returns; an error is printed as one line.
type Result<T = ExitCode> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Builds, tests and runs the workspace.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    /// Which ROCm to use: a real one where a GPU and libhipfile are present (auto), the software one, or a prefix
    #[arg(long, global = true, default_value = "auto", value_name = "auto|soft|PATH")]
    rocm: rocm::Choice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    SoftRocm(soft_rocm::Args),
    Env(env::Args),
    Demo(demo::Args),
    Test(test::Args),
    Run(run::Args),
    Bench(bench::Args),
    Fuzz(fuzz::Args),
    Codegen(codegen::Args),
    Tidy(tidy::Args),
    Package(package::Args),
    PublicApi(public_api::Args),
    Audit(audit::Args),
    Release(release::Args),
    Ci(ci::Args),
    Pkgconfig(pkgconfig::Args),
    Doctor(doctor::Args),
}

fn main() -> ExitCode {
    let Cli { rocm, command } = Cli::parse();
    let outcome = match command {
        Command::SoftRocm(args) => soft_rocm::run(&args),
        Command::Env(args) => env::run(&args, &rocm),
        Command::Demo(args) => demo::run(&args, &rocm),
        Command::Test(args) => test::run(&args, &rocm),
        Command::Run(args) => run::run(&args, &rocm),
        Command::Bench(args) => bench::run(&args, &rocm),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Codegen(args) => codegen::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::Package(args) => package::run(&args, &rocm),
        Command::PublicApi(args) => public_api::run(&args, &rocm),
        Command::Audit(args) => audit::run(&args),
        Command::Release(args) => release::run(&args, &rocm),
        Command::Ci(args) => ci::run(&args, &rocm),
        Command::Pkgconfig(args) => pkgconfig::run(&args),
        Command::Doctor(args) => doctor::run(&args, &rocm),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
