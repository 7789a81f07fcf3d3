/** An agent with the tools of a machine, where the machine is only said to be one: no command runs. */
import { ToolRuntime, type ToolContext } from "@colloquy/core/ToolRuntime"
import * as McpClient from "@colloquy/client/McpClient"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { resumedSettings, settingsOf } from "../src/internal/AgentDefinition.ts"
import { Agent } from "../src/testing/index.ts"

type ApprovalRequest = Parameters<ToolContext["approve"]>[0]

const names = ["shell", "apply_patch", "update_plan"]

const requestOf = (name: string, callId: string, cwd: string): ApprovalRequest =>
  name === "shell"
    ? {
        _tag: "Exec",
        callId,
        command: ["rm", "-rf", "build"],
        cwd,
        sandbox: { mode: "danger-full-access" },
      }
    : { _tag: "Patch", callId, changes: { [`${cwd}/new`]: { add: { content: "text\n" } } } }

/** A machine whose tools ask and then do nothing. Records the settings of each turn. */
const fakeMachine = (options: Agent.MachineOptions) => {
  const turns: Array<ToolContext["settings"]> = []
  const runtime: ToolRuntime["Service"] = {
    listMcpTools: () => Effect.succeed({}),
    open: (context) =>
      Effect.sync(() => {
        turns.push(context.settings)
        return {
          specs: Effect.succeed(
            names.map((name) => ({
              type: "function" as const,
              name,
              description: name,
              parameters: { type: "object", properties: {} },
            })),
          ),
          isReadOnly: () => false,
          run: (call) => {
            const name = "name" in call ? call.name : "local_shell"
            const { cwd } = context.settings
            return Effect.map(
              context.approve(requestOf(name, call.call_id ?? "", cwd)),
              ({ decision }) => ({ output: `${name} was ${decision}` }),
            )
          },
        }
      }),
  }
  const made = Agent.machine(options)["~colloquy/agent/Machine"]
  const machine: Agent.Machine = {
    "~colloquy/agent/Machine": {
      ...made,
      layer: Layer.succeed(ToolRuntime, runtime),
      readDocs: Effect.succeed("Use tabs."),
    },
  }
  return { machine, turns }
}

const pay = Agent.tool("pay", { run: () => Effect.succeed("paid") })

const offered = (model: Agent.ScriptedModel, index = 0) =>
  (model.requests[index]?.tools ?? []).map((tool) => ("name" in tool ? tool.name : tool.type))

const outputs = (model: Agent.ScriptedModel) =>
  (model.requests.at(-1)?.input ?? []).flatMap((item) =>
    item.type === "function_call_output" ? [item.output] : [],
  )

const sentText = (model: Agent.ScriptedModel, index = 0) =>
  JSON.stringify(model.requests[index]?.input)

const instructions = ""

describe("an agent with a machine", () => {
  it.effect("asks typed questions, whose reasons show the command and the files", () =>
    Effect.gen(function* () {
      const { machine } = fakeMachine({ cwd: "/work" })
      const model = Agent.scripted([
        [Agent.calls("shell"), Agent.calls("apply_patch"), Agent.calls("pay")],
        "done",
      ])
      const agent = Agent.make({ instructions, model, tools: [pay], machine })
      const chat = yield* agent.open()
      const asked: Array<unknown> = []
      const reasons: Array<string> = []
      yield* chat.ask("go", {
        onApproval: (question) => {
          reasons.push(question.reason)
          asked.push([question.tool, question.input])
          return question.tool === "shell"
        },
      }).result
      assert.deepStrictEqual(asked, [
        ["shell", { command: ["rm", "-rf", "build"], cwd: "/work" }],
        ["apply_patch", { changes: { "/work/new": { add: { content: "text\n" } } } }],
      ])
      assert.include(reasons[0], "`rm -rf build` in `/work`")
      assert.include(reasons[0], "without the sandbox")
      assert.include(reasons[1], "new")
      assert.deepStrictEqual(outputs(model), [
        "shell was approved",
        "apply_patch was denied",
        "paid",
      ])
      assert.deepStrictEqual(offered(model), ["pay", ...names])
    }),
  )

  it.effect("denies at once where nobody decides", () =>
    Effect.gen(function* () {
      const { machine } = fakeMachine({ cwd: "/work" })
      const model = Agent.scripted([Agent.calls("shell"), "done"])
      const chat = yield* Agent.make({ instructions, model, machine }).open()
      yield* chat.ask("go").result
      assert.deepStrictEqual(outputs(model), ["shell was denied"])
    }),
  )

  it.effect("tells the model the directory, the sandbox and the AGENTS.md of the project", () =>
    Effect.gen(function* () {
      const { machine, turns } = fakeMachine({ cwd: "/work", sandbox: "read-only" })
      const model = Agent.scripted(["done"])
      const chat = yield* Agent.make({ instructions, model, machine }).open()
      yield* chat.ask("go").result
      const sent = sentText(model)
      assert.include(sent, "<cwd>/work</cwd>")
      assert.include(sent, "<sandbox_mode>read-only</sandbox_mode>")
      assert.include(sent, "Use tabs.")
      assert.deepInclude(turns[0], { cwd: "/work", approvalPolicy: "on-request" })
    }),
  )

  it.effect("a child has the machine, or of its tools those that are named", () =>
    Effect.gen(function* () {
      const { machine, turns } = fakeMachine({ cwd: "/work" })
      const model = Agent.scripted([
        "all",
        [Agent.calls("shell"), Agent.calls("pay")],
        "only one",
        Agent.calls("apply_patch"),
        "none",
      ])
      const agent = Agent.make({ instructions, model, tools: [pay], machine })
      const chat = yield* agent.open(undefined, { onApproval: () => true })
      const askOf = (options: { readonly tools?: ReadonlyArray<string> }) =>
        Effect.flatMap(chat.child(options), (child) => child.ask("go").result)
      yield* askOf({})
      assert.deepStrictEqual(offered(model, 0), ["pay", ...names])
      assert.strictEqual(turns[0]?.cwd, "/work")
      yield* askOf({ tools: ["pay"] })
      assert.deepStrictEqual(offered(model, 1), ["pay"])
      assert.deepStrictEqual(outputs(model), ["unsupported call: shell", "paid"])
      yield* askOf({ tools: ["shell"] })
      assert.deepStrictEqual(offered(model, 3), ["shell"])
      assert.deepStrictEqual(outputs(model), ["unsupported call: apply_patch"])
    }),
  )

  it.effect("a resumed conversation has the machine that its agent has now", () =>
    Effect.gen(function* () {
      const store = Agent.memory()
      const model = Agent.scripted(["one", "two", "three", "four"])
      const free = fakeMachine({
        cwd: "/old",
        sandbox: "danger-full-access",
        approvalPolicy: "never",
      })
      const strict = fakeMachine({ cwd: "/new", sandbox: "read-only", approvalPolicy: "untrusted" })
      const turnOf = (machine?: Agent.Machine) =>
        Effect.scoped(
          Effect.flatMap(
            Agent.make({ instructions, model, store, machine }).open("one"),
            (chat) => chat.ask("go").result,
          ),
        )
      yield* turnOf()
      assert.notInclude(sentText(model, 0), "<cwd>")
      yield* turnOf(free.machine)
      assert.include(sentText(model, 1), "<cwd>/old</cwd>")
      yield* turnOf(strict.machine)
      assert.deepInclude(strict.turns[0], {
        cwd: "/new",
        approvalPolicy: "untrusted",
        sandboxPolicy: { mode: "read-only" },
        includePlanTool: true,
      })
      assert.include(sentText(model, 2), "<cwd>/new</cwd>")
      yield* turnOf()
      assert.deepStrictEqual(offered(model, 3), [])
    }),
  )

  it("a turn that was cut off under other rules is not continued", () => {
    const settingsWith = (machine: Agent.Machine) => {
      const model = Agent.scripted([])
      const agent = Agent.make({ instructions, model, machine, onRestart: "continue" })
      return settingsOf(agent["~colloquy/agent"].definition)
    }
    const { provider, ...before } = settingsWith(Agent.machine({ cwd: "/work" }))
    const { secretNames: _, unattended: __, ...stored } = before
    const continued = (machine: Agent.Machine) =>
      resumedSettings(settingsWith(machine), { ...stored, provider: provider.id }).onRestart
    assert.strictEqual(continued(Agent.machine({ cwd: "/work" })), "continue")
    assert.strictEqual(continued(Agent.machine({ cwd: "/other" })), "close")
    assert.strictEqual(continued(Agent.machine({ cwd: "/work", sandbox: "read-only" })), "close")
    assert.strictEqual(continued(Agent.machine({ cwd: "/work", network: true })), "close")
    assert.strictEqual(continued(Agent.machine({ cwd: "/work", approvalPolicy: "never" })), "close")
  })

  it.effect("no command sees the variable that holds the key of the model", () =>
    Effect.gen(function* () {
      const { machine, turns } = fakeMachine({ cwd: "/work", secretNames: ["MINE"] })
      const scripted = Agent.scripted(["done"])
      const provider = { ...scripted.provider, envKey: "TILL_LOGIN" }
      const model = Agent.model("scripted", provider, scripted.layer)
      const chat = yield* Agent.make({ instructions, model, machine }).open()
      yield* chat.ask("go").result
      assert.deepStrictEqual(turns[0]?.secretNames, ["TILL_LOGIN"])
    }),
  )

  it.effect("a client of the served agent is shown the command", () =>
    Effect.gen(function* () {
      const { machine } = fakeMachine({ cwd: "/work" })
      const model = Agent.scripted([Agent.calls("shell"), "done"])
      const agent = Agent.make({ name: "coder", instructions, model, machine })
      const [ours, theirs] = yield* memoryPair()
      yield* Effect.forkScoped(Agent.toMcp(agent)(theirs), { startImmediately: true })
      const asked: Array<string> = []
      const mcp = yield* McpClient.connect(ours, {
        clientInfo: { name: "test", version: "1" },
        onElicitation: ({ message }) =>
          Effect.sync(() => {
            asked.push(message)
            return { action: "accept", content: { decision: "denied" } }
          }),
      })
      yield* mcp.callTool("coder", { message: "go" })
      assert.include(asked[0], "Allow coder to call shell?")
      assert.include(asked[0], "`rm -rf build` in `/work`")
    }),
  )

  it("refuses a tool of its own that is named like one of the machine", () => {
    const shell = Agent.tool("shell", { run: () => Effect.void })
    const { machine } = fakeMachine({ cwd: "/work" })
    assert.throws(
      () => Agent.make({ instructions, model: Agent.scripted([]), tools: [shell], machine }),
      "Agent.make tools: expected names that no tool of the machine has, got `shell`",
    )
    Agent.make({ instructions, model: Agent.scripted([]), tools: [shell] })
  })

  it.each<readonly [what: string, options: unknown, message: string]>([
    [
      "no options",
      undefined,
      "Agent.machine: expected an object of options: cwd, sandbox, network, approvalPolicy, secretNames, hiddenPaths, got undefined",
    ],
    ["no directory", {}, "Agent.machine cwd: expected an absolute path, got undefined"],
    ["a relative one", { cwd: "here" }, 'Agent.machine cwd: expected an absolute path, got "here"'],
    [
      "an unknown sandbox",
      { cwd: "/", sandbox: "workspace" },
      'Agent.machine sandbox: expected one of read-only, workspace-write, danger-full-access, got "workspace"',
    ],
    [
      "an unknown approval policy",
      { cwd: "/", approvalPolicy: "always" },
      'Agent.machine approvalPolicy: expected one of untrusted, on-failure, on-request, never, got "always"',
    ],
    [
      "a network that the sandbox does not decide about",
      { cwd: "/", sandbox: "danger-full-access", network: false },
      "Agent.machine network: expected none unless the sandbox is workspace-write, got false",
    ],
    [
      "a network that is no boolean",
      { cwd: "/", network: "no" },
      'Agent.machine network: expected true or false, got "no"',
    ],
    [
      "a hidden path that is relative",
      { cwd: "/", hiddenPaths: ["state"] },
      'Agent.machine hiddenPaths.0: expected an absolute path, got "state"',
    ],
    [
      "secret names that are none",
      { cwd: "/", secretNames: "KEY" },
      'Agent.machine secretNames: expected an array of names, got "KEY"',
    ],
  ])("refuses %s", (_, options, message) => {
    assert.throws(() => Agent.machine(options as never), message)
  })

  it("refuses a machine that Agent.machine has not made", () => {
    const machine = { cwd: "/work" } as never
    assert.throws(
      () => Agent.make({ instructions, model: Agent.scripted([]), machine }),
      "Agent.make machine: expected Agent.machine(…)",
    )
  })
})
