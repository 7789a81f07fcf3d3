/** Differences of `exec`. Its recordings are replayed in packages/cli/test/exec/ExecReplays.live.test.ts. */
import { type Difference, everywhere, only } from "./Difference.ts"
import { anyOf, changed } from "./Explain.ts"
import { inPath, member, whole } from "./ThreadExplain.ts"

const version = "0.169.0-exec"

export const exec: ReadonlyArray<Difference> = [
  {
    key: "exec-model-warning",
    original: "For a model that is not in its list the original prints a warning as an item.",
    colloquy: "It has no list, and no such item.",
    why: "Any model of any provider can be used.",
    proofs: [everywhere(version, "exec_basic")],
    explains: whole("missing", /^item\.completed error$/, (m) =>
      String(member(m, "params", "item", "message")).startsWith("Model metadata for "),
    ),
  },
  {
    key: "exec-error-texts",
    original: "The texts of provider errors have addresses of OpenAI, or the URL of the request.",
    colloquy: "They say the same in other words.",
    why: "The provider can be any, and a URL can contain a key.",
    proofs: [only(version, "exec_failed")],
    explains: inPath(
      /^(?:error|turn\.failed)$/,
      /^params\.(?:error\.)?message$/,
      (m) => m.kind === "changed",
    ),
  },
  {
    key: "exec-resume-id",
    original: "`resume` with an id that is no UUID begins a new thread.",
    colloquy: "It is an error, and nothing starts.",
    why: "A script that has mistyped an id must not go on without its conversation.",
    proofs: [only(version, "exec_resume", "run 6")],
    explains: anyOf(
      whole(
        "missing",
        /^(?:thread\.started|turn\.(?:started|completed)|item\.completed agent_message)$/,
      ),
      changed("exit", "params.code", (original, ours) => original === 0 && ours === 1),
      inPath(/^exit$/, /^params\.stderr(?:\.\d)?$/, (m) =>
        JSON.stringify(m.ours).includes("invalid conversation id"),
      ),
    ),
  },
  {
    key: "exec-refused-calls",
    original: "A call that is refused, such as one of an unknown tool, has no item.",
    colloquy:
      "It has an `error` item with the reason; that of a patch which does not apply follows its `file_change`, which failed.",
    why: "Who reads the events sees everything that the model tried.",
    proofs: [everywhere(version, "exec_approval"), everywhere(version, "exec_tools")],
    explains: whole("added", /^item\.completed (?:error|file_change)$/, (m) =>
      /^\w+: refused$/.test(String(member(m, "params", "item", "message"))),
    ),
  },
  {
    key: "exec-stderr",
    original:
      "Errors on stderr have the name of a request and its code, or no beginning of their own; the schema is read after the prompt.",
    colloquy:
      "Every error of a valid command line is one line that begins with `Error: `, and files are read before the prompt.",
    why: "A script finds the error, and a person who types the prompt does not type it for nothing.",
    proofs: [
      only(version, "exec_resume", "run 5"),
      only(version, "exec_schema", "run 2", "run 3"),
      only(version, "exec_stdin_prompt", "run 4", "run 6"),
    ],
    explains: inPath(/^exit$/, /^params\.stderr(?:\.\d)?$/, (m) =>
      (Array.isArray(m.ours) ? String(m.ours.at(-1)) : String(m.ours)).startsWith("Error: "),
    ),
  },
]
