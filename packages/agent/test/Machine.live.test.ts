/** An agent with the tools of this machine: real commands and files in a temporary directory. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent } from "../src/testing/index.ts"

const workspace = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "colloquy-machine-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, maxRetries: 10, force: true })),
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

  it.live("applies a patch that is approved, and reads the AGENTS.md of the directory", () =>
    Effect.gen(function* () {
      const cwd = yield* workspace
      writeFileSync(join(cwd, "AGENTS.md"), "Write in capitals.")
      const patch = "*** Begin Patch\n*** Add File: new\n+TEXT\n*** End Patch"
      const model = Agent.scripted([Agent.calls("apply_patch", { input: patch }), "done"])
      const machine = Agent.machine({ cwd, approvalPolicy: "untrusted" })
      const chat = yield* Agent.make({ instructions: "", model, machine }).open()
      const reasons: Array<string> = []
      yield* chat.ask("patch", {
        onApproval: ({ reason, tool }) => {
          reasons.push(reason)
          return tool === "apply_patch"
        },
      }).result
      assert.strictEqual(readFileSync(join(cwd, "new"), "utf8"), "TEXT\n")
      assert.include(reasons[0], "new")
      assert.include(JSON.stringify(model.requests[0]?.input), "Write in capitals.")
    }),
  )

  it.live("a command does not see the key of the model", () =>
    Effect.gen(function* () {
      const cwd = yield* workspace
      // A name that does not look like that of a secret.
      process.env["TILL_LOGIN"] = ["pass", "word"].join("")
      yield* Effect.addFinalizer(() => Effect.sync(() => delete process.env["TILL_LOGIN"]))
      const scripted = Agent.scripted([shell('echo "it is $TILL_LOGIN."'), "done"])
      const provider = { ...scripted.provider, envKey: "TILL_LOGIN" }
      const model = Agent.model("scripted", provider, scripted.layer)
      const machine = Agent.machine({ cwd, approvalPolicy: "untrusted", secretNames: [] })
      const chat = yield* Agent.make({ instructions: "", model, machine }).open()
      yield* chat.ask("login", { onApproval: () => true }).result
      assert.include(last(scripted), "it is .")
    }),
  )

  it.live("every tool of the machine has a name that an agent's own tools may not have", () =>
    Effect.gen(function* () {
      const cwd = yield* workspace
      const model = Agent.scripted(["done"])
      const chat = yield* Agent.make({
        instructions: "",
        model,
        machine: Agent.machine({ cwd }),
      }).open()
      yield* chat.ask("hi").result
      const offered = (model.requests[0]?.tools ?? []).map((tool) =>
        "name" in tool ? tool.name : tool.type,
      )
      assert.isNotEmpty(offered)
      for (const name of offered) {
        const own = Agent.tool(name, { run: () => Effect.void })
        const machine = Agent.machine({ cwd })
        assert.throws(() => Agent.make({ instructions: "", model, tools: [own], machine }), name)
      }
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
