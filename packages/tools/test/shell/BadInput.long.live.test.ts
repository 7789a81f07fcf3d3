import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls } from "../support/Machine.ts"
import { perform } from "../support/Stage.ts"

const open = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "danger-full-access" },
} as const

const prefix = "failed to parse function arguments: "

/** Pairs of a call's input from the model and the output for it. */
const unreadable: ReadonlyArray<readonly [string, unknown, string]> = [
  ["no JSON", "{command: [", `${prefix}expected the JSON text of an object, got "{command: ["`],
  ["nothing", "", `${prefix}expected the JSON text of an object, got ""`],
  ["null", "null", `${prefix}invalid type: null, expected a map of arguments for \`shell\``],
  ["a list", "[]", `${prefix}invalid type: sequence, expected a map of arguments for \`shell\``],
  ["no command", {}, `${prefix}missing field \`command\` (expected a sequence)`],
  [
    "a command that is a text",
    { command: "ls -la" },
    `${prefix}invalid type: string "ls -la", expected a sequence (field \`command\`)`,
  ],
  [
    "a word that is a number",
    { command: ["echo", 1] },
    `${prefix}invalid type: integer \`1\`, expected a string (field \`command[1]\`)`,
  ],
  [
    "a misspelt field",
    { command: ["pwd"], workdirr: "/" },
    `${prefix}unknown field \`workdirr\`, did you mean \`workdir\`?`,
  ],
  [
    "an empty list",
    { command: [] },
    `${prefix}\`command\` is empty, expected a program and its arguments (field \`command\`)`,
  ],
  [
    "an empty program",
    { command: ["", "x"] },
    `${prefix}\`command\` is empty, expected a program and its arguments (field \`command\`)`,
  ],
  [
    "a NUL byte in a word",
    { command: ["echo", "a\0b"] },
    `${prefix}a word contains a NUL byte, which no program can be given (field \`command\`)`,
  ],
  [
    "a NUL byte in the directory",
    { command: ["pwd"], workdir: "a\0b" },
    `${prefix}a word contains a NUL byte, which no program can be given (field \`command\`)`,
  ],
  [
    "a timeout of nothing",
    { command: ["pwd"], timeout_ms: 0 },
    `${prefix}\`timeout_ms\` is 0, expected a number above 0 and up to 86400000 (field \`timeout_ms\`)`,
  ],
  [
    "a timeout beyond all numbers",
    '{"command":["pwd"],"timeout_ms":1e999}',
    `${prefix}invalid value: floating point \`Infinity\`, expected a finite number (field \`timeout_ms\`)`,
  ],
]

/** Commands that cannot be started: the call, and the output for the model; `WS` is the workspace. */
const unstartable: ReadonlyArray<readonly [string, object, string]> = [
  [
    "a directory that does not exist",
    { command: ["pwd"], workdir: "none/there" },
    'execution error: the working directory does not exist: "WS/none/there"',
  ],
  [
    "a directory that is a file",
    { command: ["pwd"], workdir: "hello.txt" },
    'execution error: the working directory is not a directory: "WS/hello.txt"',
  ],
  [
    "a program that does not exist",
    { command: ["no-such-program"] },
    'execution error: program not found, or what its first line asks for: "no-such-program"',
  ],
  [
    "a file that is no program",
    { command: ["./hello.txt"] },
    'execution error: not an executable program: "./hello.txt"',
  ],
  [
    "a directory as a program",
    { command: ["./.git"] },
    'execution error: not an executable program: "./.git"',
  ],
  [
    "more words than the system takes",
    { command: ["echo", "x".repeat(3_000_000)] },
    "execution error: the words and environment of the command are too long",
  ],
]

describe("shell, bad input", () => {
  for (const [name, args, expected] of unreadable) {
    it.live(`L13 ${name}: the model reads why, nothing runs, the turn continues`, () =>
      Effect.gen(function* () {
        const { messages, outputs, requests } = yield* perform(
          {},
          { settings: open, responses: [[calls("shell", args, "a")]] },
        )
        assert.deepStrictEqual(outputs, [expected])
        assert.lengthOf(requests, 2)
        assert.isUndefined(messages.find(({ type }) => type === "exec_command_begin"))
        assert.strictEqual(messages.at(-1)?.type, "task_complete")
      }),
    )
  }

  const confinements = [
    ["without a sandbox", open, true],
    [
      "in the sandbox",
      { approvalPolicy: "never", sandboxPolicy: { mode: "workspace-write" } },
      hasBubblewrap,
    ],
  ] as const
  for (const [where, settings, possible] of confinements) {
    for (const [name, args, expected] of unstartable) {
      it.live.skipIf(!possible)(`L13 ${where}, ${name}: the model reads why`, () =>
        Effect.gen(function* () {
          const { messages, outputs, workspace } = yield* perform(
            { prepare: (ws) => Fs.chmodSync(`${ws}/hello.txt`, 0o644) },
            { settings, responses: [[calls("shell", args, "a")]] },
          )
          assert.deepStrictEqual(
            outputs.map((output) => output.replaceAll(workspace, "WS")),
            [expected],
          )
          const end = messages.find(({ type }) => type === "exec_command_end")
          assert.strictEqual(end?.type === "exec_command_end" && end.exit_code, -1)
          assert.strictEqual(messages.at(-1)?.type, "task_complete")
        }),
      )
    }
  }
})
