//! The command line: clap types only. Flags are kubectl's wherever kubectl has them.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Show in which order the containers of a pod start, and who waits for whom.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-startorder",
    bin_name = "kubectl startorder",
    version,
    disable_help_subcommand = true,
    override_help = include_str!("help/top.txt")
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find containers that can start before what they need; patch them
    Lint(Box<LintArgs>),
    /// Predict the start sequence of a pod
    Explain(Box<ExplainArgs>),
    /// Draw the start of pods as it happens, or after the fact
    Watch(Box<WatchArgs>),
    /// Show which workloads wait for which
    Graph(Box<GraphArgs>),
    /// List the rules, or print the page of one
    Rules(RulesArgs),
    /// Write or show the configuration
    Config(ConfigCommandArgs),
    /// Print the version
    Version(VersionArgs),
}

/// Where manifests and live objects come from.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// File, folder or - (standard input)
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub filename: Vec<PathBuf>,
    /// Also the folders below
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Live objects: pod/x, deploy/x, ...
    #[arg(value_name = "TYPE/NAME")]
    pub targets: Vec<String>,
}

/// Which configuration holds.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// Configuration (default: the nearest .startorder.yaml)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub no_config: bool,
}

/// How to print.
#[derive(Clone, Debug, Default, Args)]
pub struct StyleArgs {
    /// Colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Plain characters only
    #[arg(long)]
    pub ascii: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says no.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Flags that every kubectl command has, for the connection to the API server.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection (as for kubectl)")]
pub struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, value_name = "FILE", global = true)]
    pub kubeconfig: Option<PathBuf>,
    /// Name of the kubeconfig context
    #[arg(long, value_name = "NAME", global = true)]
    pub context: Option<String>,
    /// Name of the kubeconfig cluster
    #[arg(long, value_name = "NAME", global = true)]
    pub cluster: Option<String>,
    /// Name of the kubeconfig user
    #[arg(long, value_name = "NAME", global = true)]
    pub user: Option<String>,
    /// Namespace of live objects
    #[arg(short = 'n', long, value_name = "NAMESPACE", global = true)]
    pub namespace: Option<String>,
    /// Address of the API server
    #[arg(short = 's', long, value_name = "URL", global = true)]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, value_name = "TOKEN", global = true)]
    pub token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", value_name = "USER", global = true)]
    pub impersonate: Option<String>,
    /// Group to impersonate; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", global = true)]
    pub impersonate_groups: Vec<String>,
    /// UID to impersonate
    #[arg(long = "as-uid", value_name = "UID", global = true)]
    pub impersonate_uid: Option<String>,
    /// How long one request may take (0: no limit)
    #[arg(long, value_name = "TIME", global = true)]
    pub request_timeout: Option<String>,
    /// Server name for the check of its certificate
    #[arg(long, value_name = "NAME", global = true)]
    pub tls_server_name: Option<String>,
    /// Do not check the server's certificate
    #[arg(long, global = true)]
    pub insecure_skip_tls_verify: bool,
    /// Path to a certificate file of the authority
    #[arg(long, value_name = "FILE", global = true)]
    pub certificate_authority: Option<PathBuf>,
    /// Path to a client certificate file
    #[arg(long, value_name = "FILE", global = true)]
    pub client_certificate: Option<PathBuf>,
    /// Path to a client key file
    #[arg(long, value_name = "FILE", global = true)]
    pub client_key: Option<PathBuf>,
}

/// Flags of `lint`.
#[derive(Debug, Args)]
#[command(override_help = include_str!("help/lint.txt"))]
pub struct LintArgs {
    /// What to read.
    #[command(flatten)]
    pub input: InputArgs,
    /// Live objects with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Live objects of all namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Kubernetes to judge by (default: newest, or server's)
    #[arg(long, value_name = "VERSION")]
    pub k8s_version: Option<String>,
    /// Lint the pods as the API server would make them
    #[arg(long)]
    pub via_server: bool,
    /// Mesh to assume where no manifest speaks of one
    #[arg(long, value_name = "MESH")]
    pub assume_mesh: Option<MeshName>,
    /// Least severity for exit 1: info, warning, error or none (default: warning)
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<String>,
    /// Least severity to list
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    pub severity: String,
    /// Run only these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Leave these rules out
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Report only what this file does not hold; written if it is not there
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the baseline anew
    #[arg(long, requires = "baseline")]
    pub update_baseline: bool,
    /// List suppressed findings, too
    #[arg(long)]
    pub show_suppressed: bool,
    /// Unrendered templates are an error, too
    #[arg(long)]
    pub strict: bool,
    /// Print the patches, change nothing
    #[arg(long)]
    pub diff: bool,
    /// Kind of gate to write: native or hook (default: per rule)
    #[arg(long, value_name = "KIND")]
    pub prefer: Option<Prefer>,
    /// Name of standard input in messages
    #[arg(long, value_name = "NAME")]
    pub stdin_filename: Option<String>,
    /// text, wide, line or json
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    pub output: LintFormat,
    /// Print the summary only
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Which configuration holds.
    #[command(flatten)]
    pub configuration: ConfigArgs,
    /// How to print.
    #[command(flatten)]
    pub style: StyleArgs,
    /// Connection flags.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Meshes whose injected proxy can be assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeshName {
    /// Istio.
    Istio,
    /// Linkerd.
    Linkerd,
    /// Kuma and Kong Mesh.
    Kuma,
    /// Consul service mesh.
    Consul,
    /// AWS App Mesh.
    Appmesh,
    /// Open Service Mesh.
    Osm,
    /// Dapr.
    Dapr,
}

/// Formats of `lint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// For people: each reason once, short diffs.
    Text,
    /// For people: everything in full.
    Wide,
    /// One line a finding.
    Line,
    /// For programs.
    Json,
}

/// Kinds of gate that a fix can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Prefer {
    /// A native sidecar with a startupProbe.
    Native,
    /// A waiting postStart hook.
    Hook,
}

/// Flags of `explain`.
#[derive(Debug, Args)]
#[command(override_help = include_str!("help/explain.txt"))]
pub struct ExplainArgs {
    /// What to read.
    #[command(flatten)]
    pub input: InputArgs,
    /// Manifest to show as "expected" (default: this, fixed)
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Predict for the pods as the API server would make them
    #[arg(long)]
    pub via_server: bool,
    /// Kubernetes to predict for; repeat it to see differences
    #[arg(long, value_name = "VERSION")]
    pub k8s_version: Vec<String>,
    /// text or json
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    pub output: ExplainFormat,
    /// Which configuration holds.
    #[command(flatten)]
    pub configuration: ConfigArgs,
    /// How to print.
    #[command(flatten)]
    pub style: StyleArgs,
    /// Connection flags.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Formats of `explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Flags of `watch`.
#[derive(Debug, Args)]
#[command(override_help = include_str!("help/watch.txt"))]
pub struct WatchArgs {
    /// Pods, or owners of pods: pod/x, deploy/x, ...
    #[arg(value_name = "TYPE/NAME")]
    pub targets: Vec<String>,
    /// Pods with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// started, ready or deleted, then print the verdicts
    #[arg(long, value_name = "STATE")]
    pub until: Option<Until>,
    /// Go on after that, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Give up after this time (exit code 1)
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Write what the API server sent
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write all of it, values of variables included
    #[arg(long)]
    pub record_full: bool,
    /// Read a recording instead of a cluster
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// text (terminal), lines (pipe) or json
    #[arg(short = 'o', long, value_name = "FORMAT")]
    pub output: Option<WatchFormat>,
    /// Which configuration holds.
    #[command(flatten)]
    pub configuration: ConfigArgs,
    /// How to print.
    #[command(flatten)]
    pub style: StyleArgs,
    /// Connection flags.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// When `watch` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Until {
    /// Every app container has started once.
    Started,
    /// Every pod is Ready, Succeeded or Failed for good.
    Ready,
    /// Every pod is gone.
    Deleted,
}

/// Formats of `watch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WatchFormat {
    /// A picture.
    Text,
    /// One line an instant.
    Lines,
    /// One object a line.
    Json,
}

/// Flags of `graph`.
#[derive(Debug, Args)]
#[command(override_help = include_str!("help/graph.txt"))]
pub struct GraphArgs {
    /// What to read.
    #[command(flatten)]
    pub input: InputArgs,
    /// text, dot, mermaid or json
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    pub output: GraphFormat,
    /// Which configuration holds.
    #[command(flatten)]
    pub configuration: ConfigArgs,
    /// How to print.
    #[command(flatten)]
    pub style: StyleArgs,
    /// Connection flags.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Formats of `graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For people.
    Text,
    /// For Graphviz.
    Dot,
    /// For Markdown that draws it.
    Mermaid,
    /// For programs.
    Json,
}

/// Flags of `rules`.
#[derive(Debug, Args)]
#[command(override_help = include_str!("help/rules.txt"))]
pub struct RulesArgs {
    /// The rule whose page to print
    #[arg(value_name = "ID")]
    pub id: Option<String>,
}

/// Flags of `config`.
#[derive(Debug, Args)]
#[command(override_help = include_str!("help/config.txt"))]
pub struct ConfigCommandArgs {
    /// init or show
    #[arg(value_name = "ACTION")]
    pub action: ConfigAction,
    /// Which configuration is meant.
    #[command(flatten)]
    pub configuration: ConfigArgs,
}

/// What to do with the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConfigAction {
    /// Write a commented .startorder.yaml
    Init,
    /// Print the effective configuration, with origins
    Show,
}

/// Flags of `version`.
#[derive(Debug, Args)]
pub struct VersionArgs {}
