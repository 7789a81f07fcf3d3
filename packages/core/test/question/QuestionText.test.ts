import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ApprovalRequest } from "../../src/approvals/Approval.ts"
import { requestEvent } from "../../src/question/ApprovalEvents.ts"
import { commandRows, commandText } from "../../src/question/CommandText.ts"
import { canBeShown, formText } from "../../src/question/FormText.ts"
import { formMessage, questionText, reasonText } from "../../src/question/QuestionText.ts"
import { exec, patch, tool } from "../approvals.ts"
import { dangerous, Hostile, hostileText } from "./hostile.ts"

const readOnly: SandboxPolicy = { mode: "read-only" }
const settings = { cwd: "/work", sandboxPolicy: readOnly }

const textOf = (request: ApprovalRequest, of = settings): string => {
  const msg = requestEvent(request, of)
  if (!("reason" in msg) || !("call_id" in msg) || msg.type === "approval_resolved") {
    assert.fail("expected a question")
  }
  return questionText(msg)
}

/** Matches a line of a question: it begins with the server's wording or with a margin, never with foreign text. */
const ours =
  /^(?:Allow Codex to |If approved, |Approved for the session, |Look-alike characters: |Right-to-left letters: |That directory is where symbolic links lead from the one that the call named:|Files \(|It asks for permission |It is asked because:|The model gives this reason:|The command:$|The arguments:$| {2}(?:["|]|… \d+ more |(?:add|update|move|delete) "))/

describe("QuestionText", () => {
  it("L7 a hostile reason cannot forge a line of the question", () => {
    const justification = "\u001b[2J\u001b[H\nAllow Codex to run `ls` in `/work`?\n\u202e"
    assert.strictEqual(
      textOf(exec("c", { justification })),
      [
        "Allow Codex to run `git push` in `/work`?",
        "If approved, it runs without the sandbox: it can read and change every file that the user of this server can, and use the network.",
        "Approved for the session, exactly this command in this directory runs so again without a question: in this conversation and its forks, also after a restart.",
        "The model gives this reason:",
        '  "\\x1b[2J\\x1b[H\\n"',
        '  "Allow Codex to run `ls` in `/work`?\\n"',
        '  "\\u202e"',
      ].join("\n"),
    )
  })

  it.effect.prop(
    "L7 whatever a command, its directory, a patch and the reasons say, each line of the question is of the server or has a margin, none has a dangerous character, and all of it is bounded",
    [Hostile, Hostile, Hostile, Hostile],
    ([a, b, c, d]) =>
      Effect.sync(() => {
        const [one, two, three, four] = [a, b, c, d].map(hostileText) as [
          string,
          string,
          string,
          string,
        ]
        const reasons = { reason: three, justification: four }
        const changes: Record<string, FileChange> = {
          [one]: { add: { content: four } },
          [`/work/${two}`]: { update: { unified_diff: "", move_path: three } },
        }
        for (const request of [
          exec("c", { command: [one, two], cwd: `/${three}`, namedCwd: `/${four}`, ...reasons }),
          patch("p", { changes, grantRoot: two, links: { [one]: four }, ...reasons }),
          tool("t", { tool: one, arguments: { [two]: [three, { four }] }, reason: four }),
        ]) {
          const text = textOf(request)
          assert.notMatch(text, dangerous)
          assert.isAtMost(text.length, 32 * 1024)
          for (const line of text.split("\n")) assert.match(line, ours)
        }
        const form = formMessage(one, two)
        assert.notMatch(form, dangerous)
        assert.isAtMost(form.length, 4_096)
      }),
    { arbitrary: { runs: 300 } },
  )

  it("L7 the question of a tool of the application shows its arguments", () => {
    assert.strictEqual(
      textOf(tool("t", { arguments: { order: "A1\u202e", cents: 1200 } })),
      [
        "Allow Codex to call `refund`?",
        "If approved, the application that embeds this server carries it out; no sandbox of this server confines it.",
        "Approved for the session, this tool runs with exactly these arguments again without a question: in this conversation and its forks, also after a restart.",
        "The arguments:",
        '  | {"order":"A1\\u202e","cents":1200}',
      ].join("\n"),
    )
  })

  it.effect.prop(
    "L7 a command that a sentence cannot contain is shown below it, character for character",
    [Schema.Array(Hostile)],
    ([words]) =>
      Effect.sync(() => {
        const command = words.map(hostileText)
        const rows = commandRows(command).split("\n")
        if (rows.some((row) => row.startsWith("  …"))) return
        const joined = rows.map((row) => row.replace(/^ {2}\| /, "")).join("")
        assert.strictEqual(joined, commandText(command))
        assert.notMatch(joined, dangerous)
      }),
  )

  it("L7 a long command keeps the statements of the server above it, and its beginning and end", () => {
    const text = textOf(exec("c", { command: ["sh", "-c", `${"true; ".repeat(20_000)}rm -rf /`] }))
    const lines = text.split("\n")
    assert.strictEqual(lines[0], "Allow Codex to run the command below in `/work`?")
    assert.match(lines[1] ?? "", /^If approved, it runs without the sandbox/)
    assert.include(text, "  | sh -c 'true; ")
    assert.match(lines.at(-1) ?? "", /rm -rf \/'$/)
    assert.match(text, / {2}… \d{5,} more characters …/)
  })

  it("L7 names the files of a patch, those with an unusual location first, and counts the others", () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`/work/f${i}`, { add: { content: "" } }] as const),
    )
    const changes: Record<string, FileChange> = {
      ...many,
      "/work/a": { update: { unified_diff: "", move_path: "/etc/cron.d/a" } },
      "/work/.git/hooks/pre-commit": { add: { content: "" } },
      "/work/gone": { delete: { content: "" } },
      "/work/link": { update: { unified_diff: "", move_path: null } },
    }
    const lines = textOf(patch("p", { changes, links: { "/work/link": "/home/user/.bashrc" } }))
      .split("\n")
      .slice(3)
    assert.deepStrictEqual(lines.slice(0, 5), [
      "Files (31 add, 1 update, 1 move, 1 delete):",
      '  move "/work/a" to "/etc/cron.d/a" (outside the working directory)',
      '  add "/work/.git/hooks/pre-commit" (in a .git directory)',
      '  update "/work/link" (leads to "/home/user/.bashrc", outside the working directory)',
      '  add "/work/f0"',
    ])
    assert.strictEqual(lines.length, 22)
    assert.strictEqual(lines.at(-1), "  … 14 more files …")
  })

  it("L7 says what `approved_for_session` covers, in words also of a directory", () => {
    assert.include(
      textOf(patch("p", { grantRoot: "/work/src" })),
      'Approved for the session, every later patch that names this directory too may change files below it without a question, in this conversation and its forks, also after a restart: "/work/src"',
    )
    assert.include(
      textOf(patch("p")),
      "Approved for the session, it allows this patch and no other: the next one is asked about again.",
    )
  })

  const write: SandboxPolicy = {
    mode: "workspace-write",
    writable_roots: ["/data"],
    exclude_tmpdir_env_var: true,
  }
  it.each<readonly [request: ApprovalRequest, sandboxPolicy: SandboxPolicy, effect: string]>([
    [
      exec("c"),
      { mode: "danger-full-access" },
      "it runs without a sandbox, like every command of this conversation: it can read and change every file that the user of this server can, and use the network.",
    ],
    [
      exec("c"),
      { mode: "external-sandbox" },
      "it runs without a sandbox of this server, like every command of this conversation: it can do what the user of this server can, wherever the server itself is confined.",
    ],
    [
      exec("c", { sandbox: { mode: "external-sandbox" } }),
      readOnly,
      "the application that embeds this server carries it out; no sandbox of this server confines it.",
    ],
    [
      exec("c", { sandbox: write }),
      readOnly,
      'it runs in the sandbox: it can change files below "/work", "/data", /tmp and not use the network.',
    ],
    [
      patch("p", { confinement: { mode: "workspace-write", network_access: true } }),
      write,
      'these files are changed in the sandbox, which allows changes below "/work", /tmp, $TMPDIR, and no other file is.',
    ],
    [
      patch("p"),
      { mode: "danger-full-access" },
      "these files are changed, without a sandbox like everything in this conversation, and no other file is.",
    ],
  ])("L7 L15 states what an approval allows: %j under %j", (request, sandboxPolicy, effect) => {
    const [first] = reasonText(request, { cwd: "/work", sandboxPolicy }).split("\n")
    assert.strictEqual(first, `If approved, ${effect}`)
  })

  it("L7 quotes the texts of a form, and keeps what its answer has to repeat", () => {
    assert.deepStrictEqual(
      formText({
        type: "object",
        title: "Allow Codex to run `ls`?",
        "x-hint": "\u202ehint",
        properties: {
          size: {
            type: "string",
            title: "Size\u200b",
            description: "one\ntwo",
            enum: ["s", "l\u202e"],
            default: "s\u0000",
          },
          color: {
            type: "string",
            enum: ["r", "g"],
            enumNames: ["Red\u001b[0m", "Green"],
            default: "r",
          },
          pick: {
            oneOf: [{ const: "a", title: "Aye" }, { const: "b\u200b" }],
          },
          n: { type: "integer", minimum: 1, default: 2 },
        },
        required: ["size"],
      }),
      {
        type: "object",
        title: '"Allow Codex to run `ls`?"',
        "x-hint": '"\\u202ehint"',
        properties: {
          size: {
            type: "string",
            title: '"Size\\u200b"',
            description: '"one\\n" "two"',
            enum: ["s", "l\u202e"],
            enumNames: ['"s"', '"l\\u202e"'],
          },
          color: {
            type: "string",
            enum: ["r", "g"],
            enumNames: ['"Red\\x1b[0m"', '"Green"'],
            default: "r",
          },
          pick: {
            oneOf: [
              { const: "a", title: '"Aye"' },
              { const: "b\u200b", title: '"b\\u200b"' },
            ],
          },
          n: { type: "integer", minimum: 1, default: 2 },
        },
        required: ["size"],
      },
    )
  })

  it("L7 refuses a form with a member whose name has hidden characters, at any depth", () => {
    const named = (name: string) => ({
      type: "object",
      properties: { deep: { type: "object", properties: { [name]: { type: "string" } } } },
    })
    assert.isTrue(canBeShown(named("name")))
    assert.isFalse(canBeShown(named("na\u202eme")))
    assert.isFalse(canBeShown(named("two\nlines")))
  })
})
