/** Differences of how a provider is selected and reached, and of what a conversation begins with. */
import * as Base64 from "effect/encoding/Base64"
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, only } from "./Difference.ts"
import { added, anyOf, changed, equals, type Explains, missing, resultText } from "./Explain.ts"

const commands = "0.29.0-commands"

const defaultHost = "error sending request for url (https://api.openai.com/v1/responses)"

/** The call gets this error instead of a conversation and a turn. */
const failsWithoutTurn = (error: RegExp): Explains => {
  const isError = (content: unknown) =>
    Array.isArray(content) &&
    content.length === 1 &&
    error.test(String((content[0] as { readonly text: unknown }).text))
  return anyOf(
    missing(
      /^event:(session_configured|task_started|stream_error|error|agent_message|token_count|task_complete)$/,
      "",
    ),
    missing("response", "result.error", equals(defaultHost)),
    added("response", "result.content", isError),
    added("response", "result.isError", equals(true)),
    // The original has not ended the turn.
    added("response", "", (ours) => isError((ours as WireMessage).result?.["content"])),
  )
}

const resumeFault = (path: string) =>
  `Failed to start Codex session: \`experimental_resume\`: expected the absolute path of a rollout file in /state/sessions; got "${path}"`

const withoutNotified = "notifier\n"

export const providers: ReadonlyArray<Difference> = [
  {
    key: "no-provider",
    original:
      "Without a configured provider, key or login a conversation begins, and its turn calls `api.openai.com` until it has used up its retries.",
    colloquy:
      "The call gets a result with `isError` that says what to configure; no conversation begins, and nothing is sent.",
    why: "The request cannot succeed, and its error does not say what to configure.",
    proofs: [only(commands, "no_provider", "2")],
    explains: failsWithoutTurn(
      /^Failed to load Codex configuration from overrides: No model provider is configured\. Set /,
    ),
  },
  {
    key: "no-default-host",
    original: "Requests to a provider without `base_url` are sent to `api.openai.com`.",
    colloquy: "A provider without `base_url` is an error.",
    why: "Prompts and keys are only sent to an address that somebody configured.",
    proofs: [only("0.29.0", "no_base_url", "2"), only("0.153.4", "no_base_url", "2")],
    explains: failsWithoutTurn(/\bbase_url\b/),
  },
  {
    key: "misspelt-provider-key",
    original:
      "An unknown key of `[model_providers.*]` is ignored: with `base_ulr`, requests are sent to `api.openai.com`.",
    colloquy: "A key that resembles a known one is an error that names both.",
    why: "Prompts and keys are only sent to an address that somebody configured.",
    proofs: [only("0.29.0", "misspelt_base_url", "2")],
    explains: failsWithoutTurn(/\bbase_ulr\b.*\bbase_url\b/),
  },
  {
    key: "connection-refused",
    original:
      "A request to an address where no process listens is repeated (`stream_error`) before it fails, and the error does not say why.",
    colloquy: "It fails at once, and the error says that the connection was refused.",
    why: "A wrong address or a server that was not started is not cured by waiting.",
    proofs: [only(commands, "refused", "2")],
    explains: anyOf(
      missing("event:stream_error", ""),
      changed(
        "event:error",
        "params.msg.message",
        (original, ours) =>
          original === "error sending request for url (http://127.0.0.1:9/v1/responses)" &&
          ours ===
            "cannot connect to the model provider at http://127.0.0.1:9/v1/responses: connection refused (ECONNREFUSED)",
      ),
    ),
  },
  {
    key: "resumed-path",
    original: "`experimental_resume` may be a relative path, and the path of any file.",
    colloquy:
      "It is an absolute path in the sessions or the archive directory; any other is an error.",
    why: "A client may set it, and what the file contains is sent to the provider.",
    proofs: [only(commands, "resume_outside", "2"), only(commands, "resume_relative", "2")],
    explains: anyOf(
      failsWithoutTurn(/^$/),
      changed(
        "response",
        resultText,
        (original, ours) =>
          original === "The request has 1 earlier answers." &&
          ["/workspace/old.jsonl", "old.jsonl"].some((path) => ours === resumeFault(path)),
      ),
    ),
  },
  {
    key: "notify-argument",
    original: "`notify` in the argument `config` of a call is run after each turn.",
    colloquy:
      "It is ignored with a warning in the log, as is that of `-c`: only `config.toml` may set `notify`.",
    why: "The program runs outside the sandbox, and a model may choose the arguments of a call.",
    proofs: [only(commands, "notify_argument", "3")],
    explains: anyOf(
      missing("event:exec_command_output_delta", ""),
      changed(
        "event:exec_command_end",
        /^params\.msg\.(stdout|aggregated_output|formatted_output)$/,
        (original, ours) => String(original).startsWith("notified\n") && ours === "",
      ),
    ),
  },
  {
    key: "notify-writable",
    original: "A `notify` program in the workspace is run.",
    colloquy:
      "A program in a directory where commands can write, such as the workspace or `/tmp`, is not run, with a warning in the log.",
    why: "A command in the sandbox could replace the program, which runs outside it.",
    proofs: [only(commands, "notify_writable", "3")],
    explains: (m) =>
      m.kind === "changed" &&
      /^params\.msg\.(stdout|aggregated_output|formatted_output|chunk)$/.test(m.path) &&
      (m.ours === withoutNotified || m.ours === Base64.encode(withoutNotified)),
  },
]
