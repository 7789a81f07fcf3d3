import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Fs from "node:fs"
import { fromToolkit } from "../src/host/HostTools.ts"
import { textOf } from "./support/CommandOutput.ts"
import { calls } from "./support/Machine.ts"
import { perform, stage } from "./support/Stage.ts"

const open = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "danger-full-access" },
} as const

const shell = (id: string, ...command: ReadonlyArray<string>) => calls("shell", { command }, id)
const bash = (id: string, script: string) => shell(id, "bash", "-c", script)

const toolkit = Toolkit.make(
  AiTool.make("shell", { description: "not the shell", success: Schema.String }),
  AiTool.make("weather", { success: Schema.String }).setNeedsApproval(true),
  AiTool.make("dying", { success: Schema.String }),
)
const hostTools = fromToolkit(toolkit).pipe(
  Effect.provide(
    toolkit.toLayer({
      shell: () => Effect.succeed("I am the application's"),
      weather: () => Effect.succeed("fine"),
      dying: () => Effect.die("broken"),
    }),
  ),
)

/** Writes to a pipe that may have no reader yet: a synchronous open would keep its program from being started. */
const write = (path: string, text: string) =>
  Effect.promise(() => Fs.promises.writeFile(path, text))

describe("several calls in one response", () => {
  it.live("commands that only read run concurrently; outputs are in call order", () =>
    Effect.gen(function* () {
      // A pipe opens only once both of its ends are open, so commands that run one after the other would never end.
      const pipes = (ws: string) =>
        ["one", "two"].map((name) => `mkfifo ${ws}/${name}`).join(" && ")
      const { begin, workspace } = yield* stage()
      const setup = yield* begin({ settings: open, responses: [[bash("s", pipes("."))]] })
      yield* setup.outputs
      const actor = yield* begin({
        settings: open,
        responses: [
          [shell("a", "cat", "one"), shell("b", "cat", "two"), shell("c", "cat", "hello.txt")],
        ],
      })
      const isBegun = (id: string) =>
        actor.until((message) => message.type === "exec_command_begin" && message.call_id === id)
      yield* Effect.all([isBegun("a"), isBegun("b"), isBegun("c")])
      // The second command ends before the first.
      yield* write(`${workspace}/two`, "second\n")
      yield* actor.until(
        ({ type, ...rest }) =>
          type === "exec_command_end" && "call_id" in rest && rest.call_id === "b",
      )
      yield* write(`${workspace}/one`, "first\n")
      assert.deepStrictEqual((yield* actor.outputs).map(textOf), [
        "first\n",
        "second\n",
        "hello\nworld\n",
      ])
    }),
  )

  it.live(
    "commands that may write run one after the other, and reads between them in their order",
    () =>
      Effect.gen(function* () {
        const { messages, outputs } = yield* perform(
          {},
          {
            settings: open,
            responses: [
              [
                bash("a", "sleep 0.1; echo one > log"),
                shell("b", "cat", "log"),
                bash("c", "echo two >> log"),
                shell("d", "cat", "log"),
                calls(
                  "apply_patch",
                  {
                    input:
                      "*** Begin Patch\n*** Update File: log\n@@\n one\n-two\n+three\n*** End Patch",
                  },
                  "e",
                ),
                shell("f", "cat", "log"),
              ],
            ],
          },
        )
        assert.deepStrictEqual(outputs.map(textOf), [
          "",
          "one\n",
          "",
          "one\ntwo\n",
          "Success. Updated the following files:\nM log\n",
          "one\nthree\n",
        ])
        const spans = messages.flatMap((message) =>
          message.type === "exec_command_begin" || message.type === "exec_command_end"
            ? [`${message.type.slice(13)} ${message.call_id}`]
            : [],
        )
        assert.deepStrictEqual(
          spans,
          ["a", "b", "c", "d", "f"].flatMap((id) => [`begin ${id}`, `end ${id}`]),
        )
      }),
  )
})

describe("the tools of an application", () => {
  it.live("are tools of the conversation, and none replaces the shell", () =>
    Effect.gen(function* () {
      const { messages, outputs, requests } = yield* perform(
        { hostTools: yield* hostTools },
        {
          settings: open,
          answers: ["approved", "denied"],
          responses: [
            [
              shell("a", "echo", "the real one"),
              calls("weather", {}, "b"),
              calls("weather", {}, "c"),
              calls("dying", {}, "d"),
              calls("nobody", {}, "e"),
            ],
          ],
        },
      )
      assert.strictEqual(textOf(outputs[0]), "the real one\n")
      assert.deepStrictEqual(outputs.slice(1), [
        "fine",
        "tool call rejected by user",
        "tool `dying` failed: internal error",
        "unsupported call: nobody",
      ])
      const names = requests[0]?.tools.flatMap((tool) => ("name" in tool ? [tool.name] : []))
      assert.deepStrictEqual(names, ["shell", "apply_patch", "view_image", "weather", "dying"])
      const asked = messages.flatMap((message) =>
        message.type === "tool_approval_request" ? [[message.tool, message.arguments]] : [],
      )
      assert.deepStrictEqual(asked, [
        ["weather", {}],
        ["weather", {}],
      ])
    }),
  )

  it.live("are approved separately from commands with the same words", () =>
    Effect.gen(function* () {
      const { messages, outputs } = yield* perform(
        { hostTools: yield* hostTools },
        {
          settings: { ...open, approvalPolicy: "untrusted" },
          answers: ["approved_for_session", "denied"],
          responses: [
            [calls("weather", {}, "a"), calls("weather", {}, "b"), shell("c", "weather", "{}")],
          ],
        },
      )
      assert.deepStrictEqual(outputs, ["fine", "fine", "exec command rejected by user"])
      const asked = messages.flatMap((message) =>
        message.type === "tool_approval_request" || message.type === "exec_approval_request"
          ? [[message.type, message.call_id]]
          : [],
      )
      assert.deepStrictEqual(asked, [
        ["tool_approval_request", "a"],
        ["exec_approval_request", "c"],
      ])
    }),
  )
})
