/** Differences of what commands may do. Their recordings are replayed with the built program and real commands. */
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, only } from "./Difference.ts"
import { added, anyOf, changed, type Explains } from "./Explain.ts"

const version = "0.29.0-commands"

/** Mismatches of the events that report how a command ran. */
const outcome: Explains = (m) => /^event:exec_command_(output_delta|end)$/.test(m.label)

const key = "a-key-in-auth-json"

export const commands: ReadonlyArray<Difference> = [
  {
    key: "safe-commands",
    original:
      "Commands that are known only to read run without an approval request and outside the sandbox, even when the model asks for escalated permissions.",
    colloquy:
      "They run in a read-only sandbox; when the model asks for escalated permissions, or without a sandbox, they need an approval like any other command.",
    why: "The list has names of programs, and a workspace can put a program of such a name on the `PATH`.",
    proofs: [only(version, "safe_command_escalated", "2", "0")],
    explains: added(/^(event:exec_approval_request|elicitation\/create)$/, "", (ours) => {
      const { method, params } = ours as WireMessage
      return (
        method !== "elicitation/create" ||
        String(params?.["message"]).startsWith("Allow Codex to run `echo hello` in")
      )
    }),
  },
  {
    key: "approved-directory",
    original:
      "The approval request, and the events of the command, show the working directory as configured, with symbolic links.",
    colloquy:
      "They show the directory with symbolic links resolved; the command runs there, or not at all if the directory was replaced.",
    why: "A command in the sandbox can replace a link: what was approved would not be what runs.",
    proofs: [only(version, "directory_link", "2", "0")],
    explains: anyOf(
      changed(
        /^(event:exec_(approval_request|command_begin)|elicitation\/create)$/,
        /^params\.(msg\.cwd|codex_cwd)$/,
        (original, ours) => original === "/workspace/link" && ours === "/workspace/real",
      ),
      changed(
        "elicitation/create",
        "params.message",
        (original, ours) =>
          String(original).endsWith("in `/workspace/link`?") &&
          String(ours).startsWith(String(original).replace("/workspace/link", "/workspace/real")),
      ),
    ),
  },
  {
    key: "approved-path",
    original: "An approved command runs with the `PATH` of the server.",
    colloquy:
      "Its `PATH` has no directories where commands in the sandbox can write; a program there is not found.",
    why: "A command in the sandbox could put a program of the approved name on the `PATH`.",
    proofs: [only(version, "writable_path", "2")],
    explains: outcome,
  },
  {
    key: "hidden-state",
    original: "A command can read `auth.json`, `config.toml` and the logs of other conversations.",
    colloquy:
      "The state directories of Colloquy and of the original are hidden from commands in the sandbox; while `auth.json` or `config.toml` has a hard link elsewhere, no command runs in the sandbox.",
    why: "The output of a command is sent to the model.",
    proofs: [only(version, "hidden_state", "2")],
    explains: (m) => outcome(m) && !(JSON.stringify(m.ours) ?? "").includes(key),
  },
  {
    key: "one-output",
    original:
      "A command has a pipe for each of its outputs: events tell standard error apart (0.153.4: all of it is `stdout`), and what a command writes to both can change its order.",
    colloquy:
      "It has one pipe for both: events and the model get all of it in the order of writing. It is all `stdout`, and `stderr` is empty.",
    why: "Two pipes cannot keep the order, and an error message belongs behind the lines that it is about.",
    proofs: [only(version, "written_output_order", "2")],
    explains: anyOf(
      changed(
        "event:exec_command_end",
        /^params\.msg\.(stdout|stderr)$/,
        (original, ours) =>
          ours === "" || (ours !== original && String(ours).startsWith(String(original))),
      ),
      (m) => m.label === "event:exec_command_output_delta",
    ),
  },
  {
    key: "unique-call-ids",
    original: "When the model repeats a call id, the events of all its calls have that id.",
    colloquy:
      "The events of a later call have an id of their own, such as `call_1-2`; the model gets its own ids back.",
    why: "A client pairs begin and end events by the id, also of calls that run at the same time.",
    proofs: [only(version, "secret_variables", "2")],
    explains: changed(
      /^event:exec_command_(begin|output_delta|end)$/,
      "params.msg.call_id",
      (original, ours) => /^-\d+$/.test(String(ours).replace(String(original), "")),
    ),
  },
  {
    key: "secret-variables",
    original:
      "`[shell_environment_policy]` excludes `*KEY*`, `*SECRET*` and `*TOKEN*` by default (0.153.4: nothing).",
    colloquy:
      "It excludes variables whose name or value shows a secret, also `DATABASE_URL`, `*_PASSWORD`, `*_PAT`, `*_AUTH`, `AWS_*`, `GITHUB_*`, URLs with a password, tokens and private keys; it keeps `KEYBOARD`, `MONKEY` or `TOKENIZERS_PARALLELISM`. `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_*`, `GIT_CONFIG_VALUE_*` and `GIT_CONFIG_PARAMETERS` are kept or excluded together. `ignore_default_excludes`, `exclude`, `set` and `include_only` have the same meaning.",
    why: "The output of a command is sent to the model, and secrets have more names than three.",
    proofs: [only(version, "secret_variables", "2")],
    explains: (m) => outcome(m) && !(JSON.stringify(m.ours) ?? "").includes("password"),
  },
]
