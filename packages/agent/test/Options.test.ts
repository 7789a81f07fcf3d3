/** Options of `Agent` with values that a program without types may give: each is refused at once, by its name. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent } from "../src/testing/index.ts"

type Untyped = (...args: ReadonlyArray<unknown>) => unknown

/** A function without its type, as a program without types calls it. */
const untyped = (call: (...args: ReadonlyArray<never>) => unknown) => call as unknown as Untyped

/** What the call throws, or what its effect or stream dies with. */
const problemOf = (call: () => unknown): Effect.Effect<string> =>
  Effect.gen(function* () {
    const result = yield* Effect.sync(call)
    if (Stream.isStream(result)) yield* Stream.runDrain(result as Stream.Stream<unknown>)
    else if (Effect.isEffect(result)) yield* Effect.scoped(result as Effect.Effect<unknown>)
  }).pipe(
    Effect.exit,
    Effect.map((exit) => {
      const [reason] = Exit.isFailure(exit) ? exit.cause.reasons : []
      if (reason === undefined || !Cause.isDieReason(reason)) return "nothing is refused"
      const { defect } = reason
      return defect instanceof Agent.BadOption || defect instanceof Agent.UnknownOption
        ? defect.message
        : `another defect: ${String(defect)}`
    }),
  )

/** Each value, given to the function, is this problem. @param of the function as it is called, which begins each message */
const refuses = (
  of: string,
  call: (given: unknown) => unknown,
  cases: ReadonlyArray<readonly [problem: string, given: unknown]>,
) =>
  describe(of, () => {
    it.effect.each(cases)("%s", ([problem, given]) =>
      Effect.map(
        problemOf(() => call(given)),
        (found) => assert.strictEqual(found, `${of}${problem}`),
      ),
    )
  })

const run = () => Effect.void
const pay = Agent.tool("pay", { run })
const parts = { instructions: "", model: Agent.scripted([]) }
const agent = Agent.make(parts)
const make = untyped(Agent.make)

refuses("Agent.make", make, [
  [
    ": expected an object of options: instructions, model, tools, machine, store, onApproval, budget, onRestart, approvalDeadline, effort, verbosity, name, version, description, got undefined",
    undefined,
  ],
  [" instructions: expected a text, got undefined", {}],
  [
    " model: expected a model, such as Agent.offline(), got undefined",
    { instructions: "", model: undefined },
  ],
  [": unknown option `tols`, did you mean `tools`?", { ...parts, tols: [] }],
])

refuses("Agent.make ", (given) => make({ ...parts, ...(given as object) }), [
  ["instructions: expected a text, got 5", { instructions: 5 }],
  ['model: expected a model, such as Agent.offline(), got "gpt-5"', { model: "gpt-5" }],
  ["model: expected a model, such as Agent.offline(), got an object", { model: {} }],
  ["tools: expected an array of tools, got an object", { tools: pay }],
  ['tools.1: expected a tool, such as Agent.tool(…), got "b"', { tools: [pay, "b"] }],
  ["tools.0: expected a tool, such as Agent.tool(…), got null", { tools: [null] }],
  ["machine: expected Agent.machine(…), got an object", { machine: { cwd: "/" } }],
  ['store: expected a store, such as Agent.memory(), got "./state"', { store: "./state" }],
  ["store: expected a store, such as Agent.memory(), got a function", { store: Agent.memory }],
  ['onApproval: expected a function, got "always"', { onApproval: "always" }],
  ['onRestart: expected one of close, continue, got "contnue"', { onRestart: "contnue" }],
  [
    'effort: expected one of none, minimal, low, medium, high, xhigh, got "hgih"',
    { effort: "hgih" },
  ],
  ['verbosity: expected one of low, medium, high, got "lots"', { verbosity: "lots" }],
  ['name: expected a name, got ""', { name: "" }],
  ["version: expected a text, got 1", { version: 1 }],
  ["description: expected a text, got null", { description: null }],
])

const aDuration = 'expected a duration, such as 500 (milliseconds) or "2 minutes"'

refuses("Agent.make approvalDeadline: ", (one) => make({ ...parts, approvalDeadline: one }), [
  [`${aDuration}, got "soonish"`, "soonish"],
  [`${aDuration}, got -1`, -1],
])

refuses("Agent.make budget", (budget) => make({ ...parts, budget }), [
  [": expected an object of options: tokens, turns, time, got 5", 5],
  [": expected an object of options: tokens, turns, time, got null", null],
  [": unknown option `token`, did you mean `tokens`?", { token: 5 }],
  [".tokens: expected a number from 0 on, got NaN", { tokens: Number.NaN }],
  ['.tokens: expected a number from 0 on, got "5"', { tokens: "5" }],
  [".turns: expected a number from 0 on, got -1", { turns: -1 }],
  [`.time: ${aDuration}, got "soon"`, { time: "soon" }],
  [`.time: ${aDuration}, got NaN`, { time: Number.NaN }],
  [`.time: ${aDuration}, got null`, { time: null }],
])

refuses("agent.open name: expected a text, got ", (name) => untyped(agent.open)(name), [
  ["5", 5],
  ["null", null],
  ["an object", { budget: {} }],
])

refuses("agent.open ", (options) => untyped(agent.open)("till", options), [
  ["onApproval: expected a function, got true", { onApproval: true }],
  ["budget.tokens: expected a number from 0 on, got -1", { budget: { tokens: -1 } }],
])

/** Calls a member of an open chat. */
const inChat = (call: (chat: Record<"ask" | "child" | "events", Untyped>) => unknown) =>
  Stream.unwrap(
    Effect.map(agent.open(), (chat) => {
      const result = call(chat as never)
      return Stream.isStream(result) ? result : Stream.fromEffect(result as Effect.Effect<unknown>)
    }),
  )

refuses("chat.ask", (options) => inChat((chat) => chat.ask("hi", options)), [
  [": expected an object of options: onApproval, schema, budget, got null", null],
  [": unknown option `shema`, did you mean `schema`?", { shema: 1 }],
  [" schema: expected a schema, got an object", { schema: { a: 1 } }],
  [' onApproval: expected a function, got "yes"', { onApproval: "yes" }],
])

refuses("chat.events", (options) => inChat((chat) => chat.events(options)), [
  [": unknown option `form`, did you mean `from`?", { form: 0 }],
  [' from: expected the number of an event, got "0"', { from: "0" }],
])

refuses("chat.child ", (options) => inChat((chat) => chat.child(options)), [
  ['tools: expected an array of names of tools, got "pay"', { tools: "pay" }],
  ["tools.0: expected a text, got an object", { tools: [pay] }],
  ["name: expected a text, got 5", { name: 5 }],
])

refuses(
  "Agent.tool name: expected 1 to 64 of the characters a-z A-Z 0-9 _ -, got ",
  (name) => untyped(Agent.tool)(name, { run }),
  [
    ["an object", {}],
    ["5", 5],
    ['"my tool"', "my tool"],
    ['""', ""],
  ],
)

refuses('Agent.tool("pay")', (options) => untyped(Agent.tool)("pay", options), [
  [
    ": expected an object of options: description, input, output, approve, readOnly, run, got undefined",
    undefined,
  ],
  [" run: expected a function, got undefined", {}],
  [" run: expected a function, got an object", { run: Effect.void }],
  [' input: expected the fields of an object, or the schema of one, got "x"', { run, input: "x" }],
  [' input.type: expected a schema, got "object"', { run, input: { type: "object" } }],
  [
    " input: expected the fields of an object, or the schema of one, got a schema of string",
    { run, input: Schema.String },
  ],
  [' output: expected a schema, got "text"', { run, output: "text" }],
  [" approve: expected true, false or a function, got null", { run, approve: null }],
  [
    " approve: expected true, false or a function, got an object",
    { run, approve: Effect.succeed(true) },
  ],
  [' readOnly: expected true or false, got "yes"', { run, readOnly: "yes" }],
])

refuses("Agent.toolkit: ", untyped(Agent.toolkit), [
  ["expected a Toolkit of effect/ai, got an empty array", []],
])

refuses("Agent.openai", (options) => untyped(Agent.openai)("gpt-5", options), [
  [
    ' baseUrl: expected an address that begins with http:// or https://, got "localhost"',
    { baseUrl: "localhost" },
  ],
  [" apiKey: expected a text or a Redacted of one, got 12345", { apiKey: 12345 }],
  [" headers.x-a: expected a text, got 1", { headers: { "x-a": 1 } }],
  [" httpClient: expected a layer, got a function", { httpClient: fetch }],
])

refuses("Agent.openai model: ", untyped(Agent.openai), [
  ["expected a name, got undefined", undefined],
  ['expected a name, got " "', " "],
])

refuses("Agent.offline script: ", (script) => untyped(Agent.offline)({ script }), [
  ["expected an array of responses, each an array of steps, got an array", ["hello"]],
])

refuses("Agent.files folder: expected the path of a folder, got ", untyped(Agent.files), [
  ["undefined", undefined],
  ['""', ""],
])

refuses("Agent.toMcp agent: expected an agent, such as Agent.make(…), got ", untyped(Agent.toMcp), [
  ["an object", parts],
  ["undefined", undefined],
])

refuses("Agent.toMcp ", (options) => untyped(Agent.toMcp)(agent, options), [
  ["title: expected a text, got 5", { title: 5 }],
])

refuses("Agent.languageModel chat: ", untyped(Agent.languageModel), [
  ["expected an open chat, got an object", agent],
])

const aScript =
  "expected an array of responses, or a function that gives the response to each request"

refuses("Agent.test", untyped(Agent.test), [
  [` script: ${aScript}, got undefined`, { tools: [] }],
  [` script: ${aScript}, got "done"`, { script: "done" }],
  [": unknown option `tols`, did you mean `tools`?", { script: [], tols: [] }],
  [" agent: expected an agent, such as Agent.make(…), got an object", { agent: {}, script: [] }],
  [": unknown option `tools`, expected one of agent, script", { agent, script: [], tools: [] }],
])

refuses("Agent.calls input: ", (input) => Agent.calls("pay", input), [
  ["expected a value with a JSON form, got an object", { cents: 5n }],
])

refuses("Agent.pauses duration: ", untyped(Agent.pauses), [[`${aDuration}, got "soon"`, "soon"]])

refuses("Agent.fails", (options) => untyped(Agent.fails)("gone", options), [
  [": unknown option `retriable`, did you mean `retryable`?", { retriable: true }],
])

refuses("Agent.uses tokens: expected a number from 0 on, got ", untyped(Agent.uses), [
  ["NaN", Number.NaN],
  ["-1", -1],
])

refuses("Agent.record ", untyped(Agent.record), [
  ['save: expected a function, got "file.json"', { save: "file.json" }],
])
