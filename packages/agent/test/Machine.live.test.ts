/** An agent with the tools of this machine: real commands and files in a temporary directory. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent } from "../src/testing/index.ts"

const workspace = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "colloquy-machine-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)

const shell = (script: string) => Agent.calls("shell", { command: ["bash", "-lc", script] })

const last = ({ requests }: Agent.ScriptedModel): string =>
  JSON.stringify(requests.at(-1)?.input.at(-1))

describe("Agent.machine", () => {
  it.live("tells the model where it is, and asks before a command with a typed question", () =>
    Effect.gen(function* () {
      const cwd = yield* workspace
      const model = Agent.scripted([shell("echo hi > note; cat note"), "done"])
      const agent = Agent.make({
        instructions: "",
        model,
        machine: Agent.machine({ cwd, approvalPolicy: "untrusted" }),
      })
      const chat = yield* agent.open()
      const asked: Array<string> = []
      const { text } = yield* chat.ask("write", {
        onApproval: (question) => {
          expectTypeOf(question).toEqualTypeOf<Agent.MachineQuestion>()
          if (question.tool !== "shell") return false
          asked.push(`${question.input.cwd}: ${question.input.command.at(-1)}`)
          return true
        },
      }).result
      assert.strictEqual(text, "done")
      assert.deepStrictEqual(asked, [`${cwd}: echo hi > note; cat note`])
      assert.include(last(model), "hi")
      assert.strictEqual(readFileSync(join(cwd, "note"), "utf8"), "hi\n")
      assert.include(JSON.stringify(model.requests[0]?.input), cwd)
    }),
  )

  it.live("denies a command that nobody approves, and a patch that a policy denies", () =>
    Effect.gen(function* () {
      const cwd = yield* workspace
      const patch = "*** Begin Patch\n*** Add File: new\n+text\n*** End Patch"
      const model = Agent.scripted([
        shell("touch made"),
        "one",
        Agent.calls("apply_patch", { input: patch }),
        "two",
      ])
      const agent = Agent.make({
        instructions: "",
        model,
        machine: Agent.machine({ cwd, sandbox: "read-only", approvalPolicy: "untrusted" }),
      })
      const chat = yield* agent.open()
      yield* chat.ask("touch").result
      assert.isFalse(existsSync(join(cwd, "made")))
      const files: Array<string> = []
      yield* chat.ask("patch", {
        onApproval: (question) => {
          if (question.tool === "apply_patch") files.push(...Object.keys(question.input.changes))
          return false
        },
      }).result
      assert.deepStrictEqual(files, [join(cwd, "new")])
      assert.isFalse(existsSync(join(cwd, "new")))
    }),
  )

  it.live("an agent's own tools are beside those of the machine, and without a machine alone", () =>
    Effect.gen(function* () {
      const cwd = yield* workspace
      const pay = Agent.tool("pay", { run: () => Effect.succeed("paid") })
      const names = (machine?: Agent.Machine) =>
        Effect.gen(function* () {
          const model = Agent.scripted([Agent.calls("pay"), "done"])
          const agent = Agent.make({ instructions: "", model, tools: [pay], machine })
          const chat = yield* agent.open()
          yield* chat.ask("pay").result
          assert.include(last(model), "paid")
          return (model.requests[0]?.tools ?? []).map((tool) => ("name" in tool ? tool.name : ""))
        })
      assert.deepStrictEqual(yield* names(), ["pay"])
      const all = yield* names(Agent.machine({ cwd }))
      assert.includeMembers(all, ["pay", "shell", "update_plan", "apply_patch", "view_image"])
    }),
  )

  it("refuses a relative directory and unknown options", () => {
    assert.throws(
      () => Agent.machine({ cwd: "here" }),
      "Agent.machine cwd: expected an absolute path",
    )
    // @ts-expect-error -- the option is `network`
    assert.throws(() => Agent.machine({ cwd: "/", netwrok: true }), "did you mean `network`?")
  })
})
