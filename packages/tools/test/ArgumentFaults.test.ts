import { type JsonSchema, jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromToolkit } from "../src/host/HostTools.ts"
import { planTool } from "../src/plan/PlanTool.ts"
import { fromLocalShell, ShellArguments } from "../src/shell/ShellCall.ts"
import { argumentsOf } from "../src/Tool.ts"
import { callOf, watched } from "./support/Context.ts"
import { toolsOf } from "./support/ScriptedServers.ts"

type Args = Readonly<Record<string, unknown>>

/** The parts of a tool that these tests use: the schema it declares, and its output for bad arguments. */
interface Checked {
  readonly name: string
  readonly schema: JsonSchema
  readonly faultsOf: (args: Args) => Effect.Effect<string>
}

interface Node extends Readonly<Record<string, unknown>> {
  readonly $defs?: Readonly<Record<string, Node>>
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Node
  readonly anyOf?: ReadonlyArray<Node>
  readonly enum?: ReadonlyArray<unknown>
}

const resolved = (node: Node, root: Node): Node => {
  const name = /^#\/\$defs\/(.+)$/.exec(String(node["$ref"]))?.[1]
  return name === undefined ? node : (root.$defs?.[name] ?? {})
}

const sample = (given: Node, root: Node): unknown => {
  const node = resolved(given, root)
  if (node.anyOf?.[0] !== undefined) return sample(node.anyOf[0], root)
  if (node.enum !== undefined) return node.enum[0]
  switch (node["type"]) {
    case "object":
      return Object.fromEntries(
        (node.required ?? []).map((key) => [key, sample(node.properties?.[key] ?? {}, root)]),
      )
    case "array":
      return node.items === undefined ? [] : [sample(node.items, root)]
    case "string":
      return "text"
    case "boolean":
      return true
    default:
      return 1
  }
}

/** A value for the node that is bad in one place only, and that place. */
interface Spoilt {
  readonly value: unknown
  readonly at: string
  readonly node: Node
}

/** For every place of the schema, arguments with a bad value in that place and good values elsewhere. */
const spoilt = (
  given: Node,
  root: Node,
  at: string,
  bad: (node: Node) => unknown,
): ReadonlyArray<Spoilt> => {
  const node = resolved(given, root)
  if (node.anyOf !== undefined) {
    return node.anyOf.flatMap((one) =>
      resolved(one, root)["type"] === "object" ? spoilt(one, root, at, bad) : [],
    )
  }
  const below = (inner: Node, place: string, wrap: (value: unknown) => unknown) => [
    ...spoilt(inner, root, place, bad).map((one) => ({ ...one, value: wrap(one.value) })),
    { value: wrap(bad(resolved(inner, root))), at: place, node: resolved(inner, root) },
  ]
  if (node["type"] === "array" && node.items !== undefined) {
    return below(node.items, `${at}[0]`, (value) => [value])
  }
  const base = node["type"] === "object" ? (sample(node, root) as Args) : {}
  return Object.entries(node.properties ?? {}).flatMap(([key, inner]) =>
    below(inner, at === "" ? key : `${at}.${key}`, (value) => ({ ...base, [key]: value })),
  )
}

const choices = (node: Node, root: Node): ReadonlyArray<unknown> =>
  (node.anyOf ?? [node]).flatMap((one) => resolved(one, root).enum ?? [])

const Levels = Schema.Literals(["low", "medium", "high"]).annotate({ identifier: "Level" })
const Shape = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("circle"), radius: Schema.Finite }),
  Schema.Struct({ kind: Schema.Literal("square"), side: Schema.Finite }),
])
const Everything = Schema.Struct({
  level: Levels,
  maybe: Schema.optionalKey(Schema.NullOr(Levels)),
  nested: Schema.Struct({ deep: Schema.Array(Schema.Struct({ level: Levels })) }),
  shape: Schema.optionalKey(Shape),
  size: Schema.optionalKey(Schema.Literals([1, 2, 3])),
})

const toolkit = Toolkit.make(AiTool.make("draw", { parameters: Everything }))
const hostTools = fromToolkit(toolkit).pipe(
  Effect.provide(toolkit.toLayer({ draw: () => Effect.void })),
)

const ofModel = Effect.gen(function* () {
  const { context } = watched({ includePlanTool: true, includeApplyPatchTool: true })
  const runtime = yield* ToolRuntime
  const turn = yield* runtime.open(context)
  const own = (yield* turn.specs).flatMap((spec): ReadonlyArray<Checked> =>
    spec.type !== "function"
      ? []
      : [
          {
            name: spec.name,
            schema: spec.parameters,
            faultsOf: (args) =>
              Effect.map(turn.run(callOf(spec.name, args)), ({ output }) => output),
          },
        ],
  )
  const hosts = (yield* hostTools).flatMap((tool): ReadonlyArray<Checked> => {
    const spec = tool.spec(context.settings)
    return spec?.type !== "function"
      ? []
      : [
          {
            name: spec.name,
            schema: spec.parameters,
            faultsOf: (args) =>
              Effect.map(tool.run(callOf(spec.name, args), context), ({ output }) => output),
          },
        ]
  })
  return [...own, ...hosts]
}).pipe(Effect.provide(toolsOf(() => () => Effect.never)))

const ofServer = [...codexTools, ...conversationTools].map((tool): Checked => ({
  name: tool.name,
  schema: tool.inputSchema,
  faultsOf: (args) =>
    Effect.succeed(
      Result.match(decodeArguments(tool, args), { onSuccess: () => "", onFailure: (text) => text }),
    ),
}))

const everyTool = Effect.map(ofModel, (tools) => [...tools, ...ofServer])

/** A value of a kind that the node does not accept. */
const ofOtherKind = (node: Node) => (node["type"] === "array" ? "text" : [[]])

/** Bad values of a member that allows only certain values: one of the right kind, and one of another kind. */
const bads: ReadonlyArray<(node: Node) => unknown> = [() => "no such choice", ofOtherKind]

const planFault = (args: Args) =>
  Effect.map(planTool.run(callOf("update_plan", args), watched().context), ({ output }) => output)

interface Tree {
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)),
}).annotate({ identifier: "Tree" })
const shapesSchema = Schema.Struct({
  shape: Schema.optionalKey(Shape),
  size: Schema.optionalKey(Schema.Literals([1, 2, 3])),
  maybe: Schema.optionalKey(Schema.NullOr(Levels)),
  name: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1))),
  tree: Schema.optionalKey(Tree),
})
const shapes = {
  name: "shapes",
  arguments: shapesSchema,
  inputSchema: jsonSchemaOf(shapesSchema, { closed: true }),
}

describe("faults of arguments", () => {
  it.effect(
    "L13 every tool names the field and every choice of a member with a limited set of values",
    () =>
      Effect.gen(function* () {
        let members = 0
        for (const { faultsOf, name, schema } of yield* everyTool) {
          const root = schema as Node
          for (const bad of bads) {
            for (const { at, node, value } of spoilt(root, root, "", bad)) {
              const expected = choices(node, root)
              if (expected.length === 0) continue
              members++
              const text = yield* faultsOf(value as Args)
              assert.include(text, `\`${at}\``, `${name} ${at}`)
              for (const choice of expected) {
                const shown = typeof choice === "string" ? choice : JSON.stringify(choice)
                assert.include(text, `\`${shown}\``, `${name} ${at}`)
              }
            }
          }
        }
        assert.isAbove(members, 20)
      }),
  )

  it.effect("L13 every tool names the field and what it accepts, for a value of another kind", () =>
    Effect.gen(function* () {
      let fields = 0
      for (const { faultsOf, name, schema } of yield* everyTool) {
        const root = schema as Node
        for (const { at, node, value } of spoilt(root, root, "", ofOtherKind)) {
          if (node["type"] === undefined && node.anyOf === undefined) continue
          fields++
          const text = yield* faultsOf(value as Args)
          assert.match(text, /expected (?:a|an|one of) ?\S/, `${name} ${at}`)
          assert.include(text, `\`${at}\``, `${name} ${at}`)
          assert.notMatch(
            text,
            /expected one of (?:$|;|\()|another (?:type|value)/,
            `${name} ${at}`,
          )
        }
      }
      assert.isAbove(fields, 30)
    }),
  )

  it.effect("L13 every tool names an unknown field, at any place", () =>
    Effect.gen(function* () {
      for (const { faultsOf, name, schema } of yield* everyTool) {
        if (name === "draw") continue
        const root = schema as Node
        const args = { ...(sample(root, root) as Args), nonsense: 1 }
        assert.match(
          yield* faultsOf(args),
          /unknown field `nonsense`, (?:expected one of `|no field)/,
        )
      }
    }),
  )

  it("L13 the provider's shell names the field and what it accepts", () => {
    const call = (action: unknown) =>
      fromLocalShell({
        type: "local_shell_call",
        call_id: "c",
        status: "completed",
        action: action as { readonly type: "exec"; readonly command: ReadonlyArray<string> },
      })
    assert.deepStrictEqual(
      Result.flip(call({ type: "exec", command: ["ls", 1], timeout_ms: "soon" })),
      Result.succeed(
        "failed to parse function arguments: invalid type: integer `1`, expected a string (field `command[1]`); " +
          'invalid type: string "soon", expected a number (field `timeout_ms`)',
      ),
    )
  })

  it.effect.each<readonly [args: Args, expected: string | undefined]>([
    [{ timeout: null, sandbox_permissions: null, prefix_rule: null, login: null }, undefined],
    [{ timeout: null, timeout_ms: 5000 }, undefined],
    [{ timeout: 5000, timeout_ms: null }, undefined],
    [{ timeout: 5000, timeout_ms: 5000 }, undefined],
    [
      { timeout: 1000, timeout_ms: 5000 },
      "fields `timeout_ms` and `timeout` are two names of one field, expected one of them",
    ],
    [
      { timeout: 1000, prefix_rule: ["git"], login: null },
      "unknown field `prefix_rule`, expected one of `command`, `workdir`, `timeout_ms`, `with_escalated_permissions`, `justification`",
    ],
  ])("L13 shell with %j in addition to a command", ([args, expected]) => {
    const decoded = argumentsOf(
      {
        name: "shell",
        arguments: ShellArguments,
        inputSchema: jsonSchemaOf(ShellArguments, { closed: true }),
        aliases: { timeout: "timeout_ms" },
      },
      JSON.stringify({ command: ["ls"], ...args }),
    )
    const fault = Result.isFailure(decoded) ? decoded.failure : undefined
    assert.strictEqual(
      fault,
      expected === undefined ? undefined : `failed to parse function arguments: ${expected}`,
    )
    if (Result.isSuccess(decoded)) {
      const given = [args["timeout"], args["timeout_ms"]].find((one) => typeof one === "number")
      assert.strictEqual(decoded.success.timeout_ms, given)
    }
    return Effect.void
  })

  it.effect.each<readonly [args: Args, text: string]>([
    [
      { plan: [{ step: "x", status: "done" }] },
      "unknown variant `done`, expected one of `pending`, `in_progress`, `completed` (field `plan[0].status`)",
    ],
    [
      { plan: [{ step: "x" }] },
      "missing field `plan[0].status` (expected one of `pending`, `in_progress`, `completed`)",
    ],
    [
      { plan: [{ step: "x", status: null }] },
      "invalid type: null, expected one of `pending`, `in_progress`, `completed` (field `plan[0].status`)",
    ],
    [{ plan: ["x"] }, 'invalid type: string "x", expected a map (field `plan[0]`)'],
    [
      { plan: [{ step: "x", status: "pending", foo: 1 }] },
      "unknown field `plan[0].foo`, expected one of `step`, `status`",
    ],
    [
      { plan: [], explanation: 5 },
      "invalid type: integer `5`, expected a string (field `explanation`)",
    ],
  ])("L13 update_plan of %j", ([args, text]) =>
    Effect.map(planFault(args), (output) =>
      assert.strictEqual(output, `failed to parse function arguments: ${text}`),
    ),
  )

  it.each<readonly [args: Args, text: string]>([
    [
      { shape: { kind: "line" } },
      "unknown variant `line`, expected one of `circle`, `square` (field `shape.kind`)",
    ],
    [{ shape: {} }, "missing field `shape.kind` (expected one of `circle`, `square`)"],
    [{ shape: { kind: "circle" } }, "missing field `shape.radius` (expected a number)"],
    [{ size: 4 }, "invalid type: integer `4`, expected one of `1`, `2`, `3` (field `size`)"],
    [
      { maybe: 4 },
      "invalid type: integer `4`, expected one of `low`, `medium`, `high` (field `maybe`)",
    ],
    [
      { name: "" },
      'invalid value: string "", expected a value with a length of at least 1 (field `name`)',
    ],
    [
      { tree: { children: [{ children: 1 }] } },
      "invalid type: integer `1`, expected a sequence (field `tree.children[0].children`)",
    ],
  ])("L13 unions, numbers, checks and recursive schemas: %j", (args, text) => {
    assert.strictEqual(Result.getOrThrow(Result.flip(decodeArguments(shapes, args))), text)
  })
})
